#include "run/verify/comparison_in_fp64.h"

#include <gtest/gtest.h>

#include "run/verify/compared_team.h"
#include "support/run_ranks.h"
#include "support/text_of_failure.h"

namespace tandem::equivalence {
namespace {

const StrategyEntry* replicated() { return &find(strategies(), "replicated", "strategy"); }

/// As exact as plain ATen in the same precision, within a factor. It allows for another order of sums, and in 16 bits
/// for values that fall on the other side of a ReLU or a maximum.
void expectAsExactAsPlain(const EqualityStamp& stamp, const std::string& what) {
  constexpr double factor = 4, rounding = 1e-7;
  ASSERT_EQ(stamp.reason, "") << what;
  const ChangeError& plain = stamp.plain.back().error;
  EXPECT_LE(stamp.error.whole, factor * plain.whole + rounding) << what;
  EXPECT_LE(stamp.error.worst, factor * plain.worst + rounding) << what << ": " << stamp.error.where;
}

class ComparisonInFp64 : public testing::TestWithParam<StrategyEntry> {};

/// Each way in fp32, with up to 3 replicas. In 16 bits each exchange, and each way beside the first exchange.
bool isCompared(const Case& c, const Case& first) {
  const bool usual = c.executor == "planned" && c.lossAt == "replica";
  if (c.precision == "fp32") return c.replicas <= 2 || (usual && c.replicas == 3);
  const bool firstExchange = c.allReduce == first.allReduce && c.parameterDevice == first.parameterDevice;
  return usual ? c.replicas == 3 : c.replicas == 2 && firstExchange;
}

TEST_P(ComparisonInFp64, EveryWayIsAsExactAsPlainAtenAndTwoReplicasInFp32HaveTheBitsOfOne) {
  if (GetParam().exchange != Exchange::synchronous) GTEST_SKIP() << "trains no common network";
  const Graph net = normNet();
  const auto cases = casesOf(GetParam(), net);
  for (const Case& c : cases) {
    if (!isCompared(c, cases.front())) continue;
    const EqualityStamp stamp = stampOf(c);
    expectAsExactAsPlain(stamp, c.name());
    EXPECT_EQ(stamp.steps, 2);
    EXPECT_EQ(stamp.plain.front().precision, "fp32");
    EXPECT_EQ(stamp.plain.back().precision, c.precision);
    EXPECT_GT(stamp.seconds, 0);
    if (c.replicas > 2 || c.precision != "fp32") continue;
    EXPECT_EQ(stamp.bitEqual, c.replicas == 2) << c.name() << ": " << stamp.differenceOfReplicas;
    EXPECT_EQ(stamp.differenceOfReplicas, c.replicas == 2 ? 0 : -1) << c.name();
  }
}

INSTANTIATE_TEST_SUITE_P(Catalog, ComparisonInFp64, testing::ValuesIn(strategies().begin(), strategies().end()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ComparisonInFp64, KnowsEveryOptimizerAndSchedule) {
  const Graph net = normNet();
  for (const OptimizerEntry& rule : optimizers()) {
    for (const ScheduleEntry& schedule : schedules()) {
      Case c{.graph = &net, .strategy = replicated(), .executor = "planned", .replicas = 2};
      c.optimizer.rule = &rule, c.optimizer.schedule = &schedule, c.optimizer.course.totalSteps = 10;
      c.optimizer.epsilon = 1e-3, c.optimizer.nesterov = rule.usesNesterov;
      expectAsExactAsPlain(stampOf(c), concat(rule.name, ' ', schedule.name));
    }
  }
}

// Batch-norm then has the statistics of a micro-batch.
TEST(ComparisonInFp64, TakesTheTeamsMicroBatches) {
  const Graph net = normNet();
  for (const int replicas : {1, 2}) {
    const Case c{.graph = &net, .strategy = replicated(), .executor = "planned", .replicas = replicas, .accumulate = 3};
    expectAsExactAsPlain(stampOf(c), c.name());
  }
}

TEST(ComparisonInFp64, ReferencesDrawWhatReplicasDraw) {
  Graph net({3, imageSize, imageSize});
  NodeId x = net.add("relu", "relu1", {net.add("conv", "conv1", {net.input()}, conv3x3(8, true))});
  x = net.add("dropout", "dropout", {net.add("flatten", "flatten", {x})}, {.probability = 0.5});
  net.add("linear", "fc", {x}, {.outputs = classes});
  for (const ExecutorEntry& executor : executors()) {
    const Case c{.graph = &net, .strategy = replicated(), .executor = std::string(executor.name), .replicas = 2};
    const EqualityStamp stamp = stampOf(c);
    expectAsExactAsPlain(stamp, c.name());
    EXPECT_EQ(stamp.differenceOfReplicas, -1) << "one replica draws other numbers";
  }
}

TEST(ComparisonInFp64, MixesTheImagesThatReplicasMix) {
  Graph net = normNet();
  for (const TaskLoss& loss : taskLosses()) {
    if (loss.head.empty()) continue;
    net.setLoss(find(taskLosses(), loss.name, "loss"));
    for (const char* lossAt : {"replica", "gathered"}) {
      Case c{.graph = &net, .strategy = replicated(), .lossAt = lossAt, .executor = "planned", .replicas = 2};
      c.accumulate = lossAt == std::string("replica") ? 3 : 1;
      c.mixing = {.mixup = 0.4, .cutmix = 1, .seed = 6, .classes = classes};
      expectAsExactAsPlain(stampOf(c), concat(loss.name, ' ', c.name()));
    }
  }
}

TEST(ComparisonInFp64, LossesAreThoseOfTheNetwork) {
  for (const TaskLoss& loss : taskLosses()) {
    if (loss.head.empty()) continue;
    Graph net = normNet();
    net.setLoss(find(taskLosses(), loss.name, "loss"));
    ReplicaSetOptions options =
        replicaSetOptions({.graph = &net, .strategy = replicated(), .executor = "planned", .replicas = 2});
    options.labelSmoothing = 0.1;
    expectAsExactAsPlain(stampOf(options, net), std::string(loss.name));
    options.targetThreshold = 0.5;
    if (lossOf(net).thresholds) expectAsExactAsPlain(stampOf(options, net), concat(loss.name, ", with a threshold"));
  }
}

// F(4x4, 3x3) rounds some ten times as much as the direct sum, before the weights are rounded. Without a ReLU no
// rounding puts a value on another side.
TEST(ComparisonInFp64, WhatWinogradCostsShows) {
  if (convolutionLibrary().empty()) GTEST_SKIP() << "a build without oneDNN";
  Graph net({3, imageSize, imageSize});
  NodeId x = net.add("conv", "conv1", {net.input()}, conv3x3(32, false));
  for (const char* name : {"conv2", "conv3"}) x = net.add("conv", name, {x}, conv3x3(32, false));
  net.add("linear", "fc", {net.add("flatten", "flatten", {x})}, {.outputs = classes});
  const auto stampBy = [&](const char* algorithm) {
    const ConvolutionAlgorithm* const row = &find(convolutionAlgorithms(), algorithm, "algorithm");
    ReplicaSetOptions team = replicaSetOptions({.graph = &net, .strategy = replicated(), .executor = "planned"});
    team.kernels.algorithms.assign(net.nodes().size(), {row, row, row});
    return stampOf(team, net);
  };
  const EqualityStamp direct = stampBy("direct"), winograd = stampBy("winograd");
  expectAsExactAsPlain(direct, "direct");
  EXPECT_GT(winograd.error.whole, 1.5 * direct.error.whole) << direct.error.whole;
  EXPECT_EQ(winograd.plain, direct.plain);
}

/// The stamps of ranks, each with as many replicas and its share of the images. `spoil` changes a rank's options.
std::vector<EqualityStamp> stampsOfRanks(const Case& c, int ranks,
                                         const std::function<void(int rank, ReplicaSetOptions&)>& spoil = nullptr) {
  std::vector<EqualityStamp> stamps(ranks);
  runRanks(ranks, [&](World& world) {
    const int rank = world.place().rank;
    Case own = c;
    own.count = globalBatch / ranks, own.first = rank * own.count;
    if (!c.shares.empty()) {
      const auto first = c.shares.begin() + rank * c.replicas;
      own.shares = {first, first + c.replicas};
      own.first = std::accumulate(c.shares.begin(), first, int64_t{0});
    }
    ReplicaSetOptions options = replicaSetOptions(own);
    options.shares = c.shares;
    options.world = &world, options.firstReplica = rank * c.replicas;
    if (spoil) spoil(rank, options);
    stamps[rank] = stampOf(options, *c.graph);
  });
  return stamps;
}

TEST(ComparisonInFp64, RankZeroComparesWhatAllRanksTrained) {
  const Graph net = normNet();
  for (const StrategyEntry& strategy : strategies()) {
    if (strategy.exchange != Exchange::synchronous) continue;
    for (const auto& [ranks, replicas] : {std::pair(2, 1), std::pair(2, 2), std::pair(4, 1)}) {
      const bool two = ranks * replicas == 2;  // two numbers have one sum
      const Case c{
          .graph = &net, .strategy = &strategy, .executor = "planned", .replicas = replicas, .accumulate = two ? 1 : 2};
      const auto stamps = stampsOfRanks(c, ranks);
      expectAsExactAsPlain(stamps[0], concat(ranks, " ranks, ", c.name()));
      EXPECT_GE(stamps[0].differenceOfReplicas, 0);
      EXPECT_LT(stamps[0].differenceOfReplicas, 1e-5);
      EXPECT_TRUE(stamps[0].bitEqual || !two) << stamps[0].differenceOfReplicas;
      EXPECT_EQ(stamps[1].reason, "rank 0 compares for all");
    }
  }
}

TEST(ComparisonInFp64, KnowsUnequalShares) {
  const Graph net = normNet();
  for (const char* lossAt : {"replica", "gathered"}) {
    Case c{.graph = &net, .strategy = replicated(), .lossAt = lossAt, .executor = "planned", .replicas = 3};
    c.shares = {15, 3, 6};
    if (c.lossAt == "replica") c.accumulate = 3;
    const EqualityStamp stamp = stampOf(c);
    expectAsExactAsPlain(stamp, c.name());
    EXPECT_EQ(stamp.differenceOfReplicas, -1) << "one replica has no such parts";
  }
  Case c{.graph = &net, .strategy = replicated(), .executor = "planned", .replicas = 2};
  c.shares = {9, 1, 12, 2};
  expectAsExactAsPlain(stampsOfRanks(c, 2)[0], "two ranks");
}

// The reference trains the images of all replicas as one batch, without an exchange.
TEST(ComparisonInFp64, JoinedStatisticsAreThoseOfOneBatch) {
  const Graph net = normNet();
  const auto joinedStamp = [&](const Case& c) {
    ReplicaSetOptions options = replicaSetOptions(c);
    options.syncBatchNorm = true;
    return stampOf(options, net);
  };
  for (const ExecutorEntry& executor : executors()) {
    for (const int64_t parts : {1, 2}) {
      Case c{.graph = &net, .strategy = replicated(), .executor = std::string(executor.name), .replicas = 3};
      c.accumulate = parts;
      const EqualityStamp stamp = joinedStamp(c);
      expectAsExactAsPlain(stamp, c.name());
      if (parts == 1) {
        EXPECT_LT(stamp.differenceOfReplicas, 1e-5) << c.name();
      }
      if (parts > 1) {
        EXPECT_EQ(stamp.differenceOfReplicas, -1) << "a part of the joined batch is no stretch of it";
      }
      c.shares = {15, 3, 6}, c.accumulate = 1;
      expectAsExactAsPlain(joinedStamp(c), concat("unequal shares, ", c.name()));
    }
  }
  Case c{.graph = &net, .strategy = replicated(), .executor = "planned", .replicas = 2};
  c.precision = "bf16";
  expectAsExactAsPlain(joinedStamp(c), c.name());
  const auto joins = [](int, ReplicaSetOptions& options) { options.syncBatchNorm = true; };
  c.precision = "fp32";
  for (const int replicas : {1, 2}) {
    c.replicas = replicas;
    expectAsExactAsPlain(stampsOfRanks(c, 2, joins)[0], concat("two ranks, ", c.name()));
  }
}

TEST(ComparisonInFp64, ARankThatTrainsOnOtherImagesShows) {
  const Graph net = normNet();
  const Case c{.graph = &net, .strategy = replicated(), .executor = "planned"};
  const auto firstImages = [&](int, ReplicaSetOptions& options) {
    Case first = c;
    first.count = globalBatch / 2;
    options.source = replicaSetOptions(first).source;
  };
  const EqualityStamp stamp = stampsOfRanks(c, 2, firstImages)[0];
  ASSERT_EQ(stamp.reason, "");
  EXPECT_GT(stamp.error.whole, 0.01);
}

TEST(ComparisonInFp64, RanksThatEndApartAreNotCompared) {
  const Graph net = normNet();
  const Case c{.graph = &net, .strategy = &find(strategies(), "independent", "strategy"), .executor = "planned"};
  const std::string failure = textOfFailure<InternalError>([&] { stampsOfRanks(c, 2); });
  EXPECT_TRUE(failure.starts_with("ranks ended the same steps with different weights: ")) << failure;
}

TEST(ComparisonInFp64, ARateOfZeroGivesAReason) {
  const Graph net = normNet();
  Case c{.graph = &net, .strategy = replicated()};
  c.optimizer.learningRate = 0;
  EXPECT_EQ(stampOf(c).reason, "the reference's weights changed by 0 in 2 steps");
}

}  // namespace
}  // namespace tandem::equivalence
