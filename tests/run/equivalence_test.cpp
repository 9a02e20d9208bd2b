#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "run/equivalence_cases.h"

namespace tandem::equivalence {
namespace {

/// One replica on the same kind of device and `count` images of each global batch from `first` on: the whole one, or
/// one replica's share.
Trained oneReplica(const Case& like, int64_t first, int64_t count) {
  static std::map<std::string, Trained> known;
  const std::string key = concat(like.executor, ' ', like.precision, ' ', ruleOf(like.optimizer).name, ' ', first, ' ',
                                 count, ' ', like.gpus > 0);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  const Case alone{.graph = like.graph,
                   .strategy = &find(strategies(), "replicated", "strategy"),
                   .precision = like.precision,
                   .executor = like.executor,
                   .optimizer = like.optimizer,
                   .gpus = std::min(like.gpus, 1),
                   .first = first,
                   .count = count};
  return known[key] = train(alone);
}

/// The mean of replicas that trained alone, each on its share.
Trained meanOfShares(const Case& c) {
  const int64_t share = globalBatch / c.replicas;
  Trained mean = oneReplica(c, 0, share);
  for (at::Tensor& values : mean.replicas[0].values) values = values.to(at::kDouble) / c.replicas;
  for (int rank = 1; rank < c.replicas; ++rank) {
    const Trained alone = oneReplica(c, rank * share, share);
    for (size_t i = 0; i < mean.replicas[0].values.size(); ++i) {
      mean.replicas[0].values[i] += alone.replicas[0].values[i] / c.replicas;
    }
  }
  return mean;
}

/// What replica `rank` must hold. The replicas of a stale exchange meet after the last step alone; a lossy one loses
/// nothing here (variantsOf()).
Trained oracleOf(const Case& c, int rank) {
  const int64_t share = globalBatch / c.replicas;
  switch (c.strategy->exchange) {
    case Exchange::synchronous:
    case Exchange::lossy:
      return oneReplica(c, 0, globalBatch);
    case Exchange::none:
      return oneReplica(c, rank * share, share);
    case Exchange::stale:
      return meanOfShares(c);
  }
  throw InternalError("an exchange without an oracle");
}

/// Trains, compares each replica with its oracle, and returns the largest difference.
Difference expectTheOracle(const Case& c) {
  const Trained trained = train(c);
  static_assert(LocalSgdOptions().syncEvery > steps);
  Difference largest;
  std::optional<Trained> oracle;
  for (int rank = 0; rank < c.replicas; ++rank) {
    if (!oracle || c.strategy->exchange == Exchange::none) oracle = oracleOf(c, rank);  // else it is that of all
    const Difference found = difference(trained.replicas[rank], oracle->replicas[0], oracle->initial);
    EXPECT_TRUE(equal(found, c)) << c.name() << ", replica " << rank << ": " << found.where << " differs by "
                                 << found.ofNorm << " of its norm, " << found.ofChange << " of its change";
    largest.ofNorm = std::max(largest.ofNorm, found.ofNorm);
    largest.ofChange = std::max(largest.ofChange, found.ofChange);
  }
  return largest;
}

class Equivalence : public testing::TestWithParam<StrategyCases> {
 protected:
  const Graph net_ = plainNet();
};

TEST_P(Equivalence, FiveStepsGiveTheWeightsOfTheOracle) {
  std::map<std::string, Difference> worst;
  for (const Case& c : GetParam().of(net_)) {
    const Difference found = expectTheOracle(c);
    Difference& largest = worst[c.precision];
    largest.ofNorm = std::max(largest.ofNorm, found.ofNorm);
    largest.ofChange = std::max(largest.ofChange, found.ofChange);
  }
  for (const auto& [precision, largest] : worst) {
    RecordProperty(precision + "_of_norm", std::to_string(largest.ofNorm));
    RecordProperty(precision + "_of_change", std::to_string(largest.ofChange));
  }
}

TEST_P(Equivalence, SamplesOfUnequalSharesCountAlike) {
  if (GetParam().strategy.exchange != Exchange::synchronous && GetParam().strategy.exchange != Exchange::lossy) {
    GTEST_SKIP() << "sums no gradients";
  }
  static_assert(globalBatch == 13 + 2 + 8 + 1);
  for (Case c : GetParam().of(net_)) {
    if (c.replicas != 4) continue;
    c.shares = {13, 2, 8, 1};
    expectTheOracle(c);
  }
}

INSTANTIATE_TEST_SUITE_P(Catalog, Equivalence, testing::ValuesIn(casesOfEachStrategy(/*all=*/false)),
                         [](const auto& info) { return std::string(info.param.strategy.name); });
INSTANTIATE_TEST_SUITE_P(LongCatalog, Equivalence, testing::ValuesIn(casesOfEachStrategy(/*all=*/true)),
                         [](const auto& info) { return std::string(info.param.strategy.name); });

// On one GPU two replicas share it, but for NCCL, which takes each GPU once.
TEST(OnAGpu, FiveStepsGiveTheWeightsOfTheOracle) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "no GPU here";
  at::globalContext().setAllowTF32CuDNN(false);
  const Graph net = plainNet();
  for (const StrategyEntry& strategy : strategies()) {
    for (Case c : casesOf(strategy, net)) {
      const AllReduceEntry& allReduce = find(allReduces(), c.allReduce, "all-reduce");
      if (c.replicas > 2 || !allReduce.onCuda) continue;
      if (c.parameterDevice == "cpu:0") c.parameterDevice = "cuda:0";
      c.gpus = std::min(cudaDeviceCount(), c.replicas);
      expectTheOracle(c);
    }
    for (const ExecutorEntry& executor : executors()) {
      Case c{.graph = &net, .strategy = &strategy, .allReduce = "nccl", .executor = std::string(executor.name)};
      c.compression = withoutLoss();
      c.replicas = c.gpus = std::min(cudaDeviceCount(), 4);
      for (const bool overlap : {true, false}) {
        c.overlap = overlap;
        expectTheOracle(c);
      }
    }
  }
}

// What a GPU computes is what a CPU does, up to the order of sums.
TEST(OnAGpu, OneReplicaTrainsAsOnACpu) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "no GPU here";
  at::globalContext().setAllowTF32CuDNN(false);
  const Graph net = plainNet();
  for (const ExecutorEntry& executor : executors()) {
    const Case c{.graph = &net, .strategy = &strategies().front(), .executor = std::string(executor.name), .gpus = 1};
    const Trained gpu = oneReplica(c, 0, globalBatch);
    Case onCpu = c;
    onCpu.gpus = 0;
    const Trained cpu = oneReplica(onCpu, 0, globalBatch);
    const Difference found = difference(gpu.replicas[0], cpu.replicas[0], cpu.initial);
    EXPECT_TRUE(equal(found, c)) << executor.name << ": " << found.where << " differs by " << found.ofNorm;
  }
}

// Channels of zeros change nothing but the order of sums: the oracle has none.
TEST_P(Equivalence, PaddedImagesGiveTheWeightsOfTheOracle) {
  for (Case c : GetParam().of(net_)) {
    if (c.replicas != 2 || c.executor != "planned") continue;
    for (const int64_t zeros : {1, 5}) {
      c.zeroChannels = zeros;
      expectTheOracle(c);
    }
  }
}

TEST(OnAGpu, PaddedImagesGiveTheWeightsOfTheOracle) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "no GPU here";
  at::globalContext().setAllowTF32CuDNN(false);
  const Graph net = plainNet();
  for (const char* precision : {"fp32", "bf16", "fp16"}) {
    for (const int64_t zeros : {1, 5}) {
      Case c{.graph = &net, .strategy = &strategies().front(), .precision = precision, .executor = "planned"};
      c.gpus = 1, c.zeroChannels = zeros;
      expectTheOracle(c);
    }
  }
}

TEST_P(Equivalence, AnExchangeAfterBackwardGivesTheWeightsOfTheOracle) {
  for (Case c : GetParam().of(net_)) {
    if (c.replicas != 2) continue;
    c.overlap = false;
    expectTheOracle(c);
  }
}

// A batch in parts, one after the other, is the whole batch.
TEST_P(Equivalence, ABatchInPartsGivesTheSameWeights) {
  for (Case c : GetParam().of(net_)) {
    const bool sums = c.allReduce == "shared" || c.allReduce == "owner";
    if (c.replicas != 2 || c.lossAt != "replica" || !sums) continue;
    const Trained whole = train(c);
    for (const int64_t parts : {2, 3, 12}) {
      c.accumulate = parts;
      const Trained trained = train(c);
      for (size_t rank = 0; rank < 2; ++rank) {
        const Difference found = difference(trained.replicas[rank], whole.replicas[rank], whole.initial);
        EXPECT_TRUE(equal(found, c)) << c.name() << ", " << parts << " parts: " << found.where << " differs by "
                                     << found.ofNorm << " of its norm, " << found.ofChange << " of its change";
      }
    }
  }
}

// Adam divides by the gradient's own size, which makes rounding of a gradient near zero as large as the gradient: the
// epsilon keeps that below the bound.
TEST_P(Equivalence, EveryOptimizerGivesTheWeightsOfTheOracle) {
  for (const OptimizerEntry& rule : optimizers()) {
    for (Case c : variantsOf(GetParam().strategy, net_)) {
      c.executor = "planned";
      c.replicas = 2;
      c.optimizer.rule = &rule;
      c.optimizer.epsilon = 1e-3;
      expectTheOracle(c);
    }
  }
}

Graph twoHeaded() {
  Graph net({3, imageSize, imageSize});
  const NodeId shared = net.add("relu", "relu", {net.add("conv", "conv", {net.input()}, conv3x3(8, true))});
  const NodeId pooled = net.add("flatten", "pooled", {net.add("global_avg_pool", "pool", {shared})});
  net.addAuxiliary(net.add("linear", "head", {pooled}, {.outputs = classes}), 0.3);
  net.add("linear", "fc", {net.add("flatten", "flatten", {shared})}, {.outputs = classes});
  return net;
}

// The loss of an auxiliary head is a part of the loss, wherever it is computed.
TEST_P(Equivalence, AuxiliaryHeadsGiveTheWeightsOfTheJoinedBatch) {
  if (GetParam().strategy.exchange != Exchange::synchronous) GTEST_SKIP() << "trains on its own share";
  const Graph net = twoHeaded();
  const StrategyEntry* const replicated = &find(strategies(), "replicated", "strategy");
  const Trained expected = train({.graph = &net, .strategy = replicated});
  for (size_t i = 0; i < expected.initial.values.size(); ++i) {
    EXPECT_FALSE(expected.initial.values[i].equal(expected.replicas[0].values[i])) << expected.initial.names[i];
  }
  for (const LossPlacementEntry& place : lossPlacements()) {
    const Case c{.graph = &net,
                 .strategy = &GetParam().strategy,
                 .lossAt = std::string(place.name),
                 .executor = "planned",
                 .replicas = 2};
    const Trained trained = train(c);
    for (const Weights& weights : trained.replicas) {
      const Difference found = difference(weights, expected.replicas[0], expected.initial);
      EXPECT_TRUE(equal(found, c)) << c.name() << ": " << found.where << " differs by " << found.ofNorm;
    }
  }
}

TEST(EquivalenceOracle, TrainsEveryTensor) {
  const Graph net = plainNet();
  const Trained trained = oneReplica({.graph = &net}, 0, globalBatch);
  for (size_t i = 0; i < trained.initial.values.size(); ++i) {
    const at::Tensor change = trained.replicas[0].values[i] - trained.initial.values[i];
    EXPECT_GT(change.norm().item<double>(), 1e-3) << trained.initial.names[i];
  }
}

}  // namespace
}  // namespace tandem::equivalence
