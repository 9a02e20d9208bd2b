// Strategies whose replicas are those of several processes.
#include <gtest/gtest.h>

#include <limits>

#include "strategy/synthetic_training.h"
#include "support/precisions.h"

namespace tandem {
namespace {

std::vector<SyntheticRun> runsOf(const StrategyEntry& strategy) {
  std::vector<SyntheticRun> runs;
  for (const Precision& precision : precisionsOnCpu()) {
    for (const int ranks : {2, 4}) {
      for (const int replicas : {1, 2}) {
        SyntheticRun run{.strategy = &strategy, .allReduce = "owner"};
        run.precision = precision.name, run.ranks = ranks, run.replicas = replicas;
        runs.push_back(run);
        run.nodes = replicas;
        if (replicas > 1) runs.push_back(run);
      }
    }
  }
  return runs;
}

std::string nameOf(const SyntheticRun& run) {
  return concat(run.precision, ", ", run.ranks, " ranks of ", run.replicas, " replicas on ", run.nodes, " nodes");
}

std::vector<StrategyEntry> acrossRanks() {
  std::vector<StrategyEntry> some;
  for (const StrategyEntry& strategy : strategies()) {
    if (strategy.crossesRanks) some.push_back(strategy);
  }
  return some;
}

class AcrossRanks : public testing::TestWithParam<StrategyEntry> {};

TEST_P(AcrossRanks, MakesTheTextbookUpdateOnEveryReplica) {
  const bool joined = GetParam().exchange == Exchange::synchronous;
  for (const SyntheticRun& run : runsOf(GetParam())) {
    const auto results = train(run);
    const int all = run.ranks * run.replicas;
    for (int number = 0; number < all; ++number) {
      for (int i = 0; i < results[number]->parameters(); ++i) {
        const Slice slice = results[number]->slice(i);
        const at::Tensor expected = expectedMaster(run, i, run.steps, joined ? 0 : number, joined ? all : number + 1);
        EXPECT_LE(relativeDifference(results[number]->master(slice), expected), roundingBound(run.precision))
            << nameOf(run) << ", replica " << number << ", parameter " << i;
        if (!joined) continue;
        EXPECT_TRUE(at::equal(results[number]->master(slice), results[0]->master(slice))) << nameOf(run);
        EXPECT_TRUE(at::equal(results[number]->weights(slice), results[0]->weights(slice))) << nameOf(run);
      }
    }
  }
}

TEST_P(AcrossRanks, AStepThatOverflowsOnOneIsLeftOutByAll) {
  if (GetParam().exchange == Exchange::none) GTEST_SKIP() << "no exchange";
  for (SyntheticRun run : runsOf(GetParam())) {
    if (!find(precisions(), run.precision, "precision").lossScaling) continue;
    run.lossScale = LossScaleRule{.initial = 1024};
    SyntheticRun without = run;
    without.leftOut = 2, --without.steps;
    const auto expected = train(without);
    const int last = run.ranks * run.replicas - 1;
    run.spoil = [=](int number, int64_t batch, int of, at::Tensor gradient) {
      if (number == last && batch == 2 && of == 1) gradient[0] = std::numeric_limits<float>::infinity();
    };
    const auto results = train(run);
    for (int number = 0; number <= last; ++number) {
      for (int segment = 0; segment < results[number]->segments(); ++segment) {
        const Slice whole = results[number]->whole(segment);
        EXPECT_TRUE(at::equal(results[number]->master(whole), expected[0]->master(whole))) << nameOf(run);
      }
    }
  }
}

TEST_P(AcrossRanks, AFailureOfOneEndsTheOthers) {
  if (GetParam().exchange == Exchange::none) GTEST_SKIP() << "no exchange";
  SyntheticRun run{.strategy = &GetParam(), .allReduce = "owner", .replicas = 2, .ranks = 2};
  run.atBegin = [](int number, int64_t step, FlatBuffers&) {
    if (number == 3 && step == 2) throw DataError("no more data");
  };
  try {
    train(run);
    FAIL();
  } catch (const Error& failure) {
    EXPECT_STREQ(failure.what(), "no more data");
  }
}

INSTANTIATE_TEST_SUITE_P(Catalog, AcrossRanks, testing::ValuesIn(acrossRanks()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tandem
