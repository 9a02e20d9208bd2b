#include <gtest/gtest.h>

#include "base/error.h"
#include "optim/loss_scale.h"
#include "run/equivalence_cases.h"

namespace tandem::equivalence {
namespace {

struct Scaled {
  Trained trained;
  std::vector<LossScaleState> scales;  // by replica
};

Scaled trainScaled(const Case& c, const LossScaleRule& rule, int64_t stepCount = steps) {
  ReplicaSetOptions options = replicaSetOptions(c);
  options.lossScale = rule;
  Scaled found;
  found.trained.replicas.resize(c.replicas), found.scales.resize(c.replicas);
  ReplicaSet(options).run([&](ReplicaSet::Member& member) {
    if (member.index() == 0) found.trained.initial = weightsOf(member.buffers());
    for (int64_t step = 0; step < stepCount; ++step) member.step();
    member.finish();
    found.trained.replicas[member.index()] = weightsOf(member.buffers());
    found.scales[member.index()] = member.lossScale().value();
  });
  return found;
}

std::vector<Case> scaledCases(const Graph& net) {
  std::vector<Case> cases;
  for (const StrategyEntry& strategy : strategies()) {
    for (Case c : variantsOf(strategy, net)) {
      for (const int replicas : {1, 2, 4}) {
        c.precision = "fp16", c.executor = "planned", c.replicas = replicas;
        cases.push_back(c);
      }
    }
  }
  return cases;
}

bool isFinite(const Weights& weights) {
  return std::ranges::all_of(weights.values,
                             [](const at::Tensor& values) { return values.isfinite().all().item<bool>(); });
}

// The gradient of a logit is about 1 / (images of a replica): 2^24 of that is more than fp16 holds.
TEST(LossScaling, ReplicasThatExchangeSkipTheSameStepsUntilTheScaleFits) {
  const Graph net = smallNet();
  for (const Case& c : scaledCases(net)) {
    SCOPED_TRACE(c.name());
    const Scaled found = trainScaled(c, {.initial = 0x1p24}, 20);
    for (int rank = 0; rank < c.replicas; ++rank) {
      const LossScaleState& state = found.scales[rank];
      EXPECT_GT(state.skipped, 3);
      EXPECT_LT(state.skipped, 18);
      EXPECT_EQ(state.scale, std::exp2(24.0 - static_cast<double>(state.skipped)));
      EXPECT_TRUE(isFinite(found.trained.replicas[rank]));
      if (c.strategy->exchange == Exchange::none || c.strategy->exchange == Exchange::stale) continue;
      EXPECT_EQ(state.skipped, found.scales[0].skipped);
      EXPECT_EQ(difference(found.trained.replicas[rank], found.trained.replicas[0], found.trained.initial).ofChange, 0);
    }
  }
}

// Every value on the way back is as much larger, so roundings are the same where nothing is subnormal.
TEST(LossScaling, TheScaleChangesNothingButWhatUnderflows) {
  const Graph net = plainNet();
  Case c{.graph = &net, .strategy = &find(strategies(), "replicated", "strategy"), .precision = "fp16"};
  for (const ExecutorEntry& executor : executors()) {
    for (const int64_t parts : {1, 2}) {
      c.executor = executor.name, c.accumulate = parts, c.replicas = 2;
      const Scaled expected = trainScaled(c, {.initial = 512});
      const auto distance = [&](double initial) {
        const Scaled found = trainScaled(c, {.initial = initial});
        EXPECT_EQ(found.scales[0].skipped, 0) << initial;
        return difference(found.trained.replicas[0], expected.trained.replicas[0], expected.trained.initial).ofChange;
      };
      EXPECT_LE(distance(256), 4 * unitOf(at::kHalf)) << c.name();
      EXPECT_GT(distance(1), distance(256)) << c.name() << ": without a scale gradients are lost";
    }
  }
}

// Of 300,000 classes that no image has, each gets a gradient of 1 / 300,000 / 24 images: two steps of fp16's
// subnormals.
TEST(LossScaling, WhatFp16WouldLoseIsScaledBefore) {
  constexpr int64_t outputs = 300'000;
  Graph net({3, imageSize, imageSize});
  const NodeId pooled = net.add("global_avg_pool", "pool", {net.input()});
  net.add("linear", "fc", {net.add("flatten", "flatten", {pooled})}, {.outputs = outputs});
  Case c{.graph = &net, .strategy = &find(strategies(), "replicated", "strategy")};
  const auto changeOfOthers = [&](const Trained& trained) {
    const auto bias = std::ranges::find(trained.initial.names, "fc.bias") - trained.initial.names.begin();
    const at::Tensor change = trained.replicas[0].values[bias] - trained.initial.values[bias];
    return change.narrow(0, classes, outputs - classes).to(at::kDouble);
  };
  const at::Tensor expected = changeOfOthers(train(c));
  c.precision = "fp16";
  const at::Tensor found = changeOfOthers(trainScaled(c, {.initial = 4096}).trained);
  EXPECT_LE((found - expected).norm().item<double>(), 16 * unitOf(at::kHalf) * expected.norm().item<double>());
}

// To the bit: what is computed again is what was computed.
TEST(LossScaling, ComputingActivationsAgainGivesTheSameWeights) {
  const Graph net = plainNet();
  Case c{.graph = &net, .strategy = &find(strategies(), "replicated", "strategy"), .precision = "fp16"};
  c.executor = "planned", c.replicas = 2;
  const Scaled expected = trainScaled(c, {.initial = 0x1p18}, 8);
  for (const RecomputeEntry& policy : recomputes()) {
    c.recompute = policy.name;
    const Scaled found = trainScaled(c, {.initial = 0x1p18}, 8);
    EXPECT_EQ(found.scales[1].scale, expected.scales[1].scale) << policy.name;
    const Difference off =
        difference(found.trained.replicas[1], expected.trained.replicas[1], expected.trained.initial);
    EXPECT_EQ(off.ofChange, 0) << policy.name;
  }
}

TEST(LossScaling, EndsTheRunWhereTheLeastScaleOverflows) {
  const Graph net = smallNet();
  for (const Case& c : scaledCases(net)) {
    if (c.replicas != 2) continue;
    EXPECT_THROW(trainScaled(c, {.initial = 0x1p30, .minimum = 0x1p29}), NumericError) << c.name();
  }
}

TEST(LossScaling, OnlyFp16HasAScale) {
  const Graph net = plainNet();
  for (const Precision& precision : precisionsOnCpu()) {
    Case c{.graph = &net, .strategy = &find(strategies(), "replicated", "strategy")};
    c.precision = precision.name;
    ReplicaSet(replicaSetOptions(c)).run([&](ReplicaSet::Member& member) {
      EXPECT_EQ(member.lossScale().has_value(), precision.name == "fp16") << precision.name;
    });
  }
}

}  // namespace
}  // namespace tandem::equivalence
