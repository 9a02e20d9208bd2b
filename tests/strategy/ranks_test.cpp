// Strategies whose replicas are those of several processes.
#include <gtest/gtest.h>

#include <limits>

#include "strategy/builtin_strategies.h"
#include "strategy/oracles.h"
#include "support/precisions.h"

namespace tandem {
namespace {

const AllReduceEntry& owner() { return find(allReduces(), "owner", "all-reduce"); }

/// The run by each other way in which sums cross ranks.
std::vector<SyntheticRun> byOtherAllReduces(const SyntheticRun& run) {
  std::vector<SyntheticRun> runs;
  SyntheticRun variant = run;
  for (const AllReduceEntry& row : allReduces()) {
    variant.allReduce = row.name;
    if (run.strategy->usesAllReduce && row.onCpu && row.name != run.allReduce && accepts(*run.strategy, row)) {
      runs.push_back(variant);
    }
  }
  variant.allReduce = "tree", variant.larger = "hierarchical";
  if (run.strategy->usesAllReduce) runs.push_back(variant);
  return runs;
}

std::vector<SyntheticRun> runsOf(const StrategyEntry& strategy) {
  std::vector<SyntheticRun> runs;
  for (const Precision& precision : precisionsOnCpu()) {
    for (const int ranks : {2, 4}) {
      for (const int replicas : {1, 2}) {
        SyntheticRun run{.strategy = &strategy, .allReduce = accepts(strategy, owner()) ? "owner" : "shared"};
        run.precision = precision.name, run.ranks = ranks, run.replicas = replicas;
        const auto own = withOwnOptions(run);
        runs.insert(runs.end(), own.begin(), ranks == 2 ? own.end() : own.begin() + 1);
        const auto others = withOtherGradients(run);
        runs.insert(runs.end(), others.begin(), ranks == 2 ? others.end() : others.begin());
        const auto ways = byOtherAllReduces(run);
        runs.insert(runs.end(), ways.begin(), ranks == 2 ? ways.end() : ways.begin());
        run.nodes = replicas;
        if (replicas > 1 && accepts(strategy, owner())) runs.push_back(run);
      }
    }
  }
  return runs;
}

std::string nameOf(const SyntheticRun& run) {
  return concat(run.allReduce, run.larger.empty() ? "" : " and ", run.larger, ' ', run.precision, gradientsText(run),
                ", ", run.ranks, " ranks of ", run.replicas, " replicas on ", run.nodes, " nodes", ownOptionsText(run));
}

class AcrossRanks : public testing::TestWithParam<StrategyEntry> {};

TEST_P(AcrossRanks, MakesTheTextbookUpdateOnEveryReplica) {
  const bool joined = GetParam().exchange != Exchange::none;
  for (const SyntheticRun& run : runsOf(GetParam())) {
    const auto results = train(run);
    Oracles oracles(run);
    const int all = run.ranks * run.replicas;
    for (int number = 0; number < all; ++number) {
      for (int i = 0; i < results[number]->parameters(); ++i) {
        const Slice slice = results[number]->slice(i);
        const at::Tensor expected = oracles.of(i, run.steps, number);
        EXPECT_LE(relativeDifference(results[number]->master(slice), expected), boundOf(run))
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
  if (GetParam().exchange == Exchange::stale) GTEST_SKIP() << "each replica leaves out its own steps";
  for (SyntheticRun run : runsOf(GetParam())) {
    if (!precisionOf(run).lossScaling) continue;
    run.lossScale = LossScaleRule{.initial = 1024};
    SyntheticRun without = run;
    without.leftOut = 2, --without.steps;
    const auto expected = train(without);
    const int last = run.ranks * run.replicas - 1;
    run.spoil = overflowOf(last);
    const auto results = train(run);
    for (int number = 0; number <= last; ++number) {
      for (int segment = 0; segment < results[number]->segments(); ++segment) {
        const Slice whole = results[number]->whole(segment);
        EXPECT_TRUE(at::equal(results[number]->master(whole), expected[0]->master(whole))) << nameOf(run);
      }
    }
  }
}

// Each rank's sum is finite, that of all ranks is not. A server alone sees it.
TEST_P(AcrossRanks, ASumOfAllRanksThatOverflowsIsLeftOutByAll) {
  if (GetParam().exchange != Exchange::synchronous) GTEST_SKIP() << "gradients are not summed as they are";
  for (SyntheticRun run : runsOf(GetParam())) {
    if (precisionOf(run).wire != at::kHalf) continue;
    run.lossScale = LossScaleRule{.initial = 1024};
    run.spoil = [=](int, int64_t batch, int of, at::Tensor gradient) {
      if (batch == 1 && of == 2) gradient[500] = 60'000.0F / static_cast<float>(run.replicas);
    };
    run.atEnd = [&](int number, const LossScale& scale) {
      EXPECT_EQ(scale.state().skipped, 1) << nameOf(run) << ", replica " << number;
      EXPECT_EQ(scale.state().scale, 512) << nameOf(run) << ", replica " << number;
    };
    train(run);
  }
}

// Three servers of four ranks; the fourth only computes. Gradients of both kinds of ranks have all orders.
TEST(ParameterServerAcrossRanks, SomeRanksServe) {
  for (const Precision& precision : precisionsOnCpu()) {
    SyntheticRun run{.strategy = &find(strategies(), "parameter_server", "strategy"), .servers = {.ranks = 3}};
    run.precision = precision.name, run.ranks = 4, run.replicas = 2;
    for (const bool overlap : {true, false}) {
      run.overlap = overlap;
      const auto results = train(run);
      Oracles oracles(run);
      for (const auto& buffers : results) {
        for (int i = 0; i < buffers->parameters(); ++i) {
          const Slice slice = buffers->slice(i);
          EXPECT_LE(relativeDifference(buffers->master(slice), oracles.of(i, run.steps, 0)), boundOf(run)) << i;
          EXPECT_TRUE(at::equal(buffers->master(slice), results[0]->master(slice))) << i;
        }
      }
    }
  }
}

TEST(ParameterServerAcrossRanks, AStepStartsFromTheUpdateBefore) {
  SyntheticRun run{.strategy = &find(strategies(), "parameter_server", "strategy")};
  run.ranks = 3, run.replicas = 2, run.steps = 4;
  Oracles oracles(run);
  run.atBegin = [&](int number, int64_t step, FlatBuffers& buffers) {
    for (int i = 0; i < buffers.parameters(); ++i) {
      const double difference = relativeDifference(buffers.weights(buffers.slice(i)), oracles.of(i, step, number));
      EXPECT_LE(difference, boundOf(run)) << "replica " << number << ", step " << step << ", parameter " << i;
    }
  };
  train(run);
}

// As many additions, in another order: a server adds sums of ranks, one process all replicas one after another.
TEST(ParameterServerAcrossRanks, GivesTheBitsOfOneProcessWhereSumsHaveOneOrder) {
  for (const Precision& precision : precisionsOnCpu()) {
    SyntheticRun run{.strategy = &find(strategies(), "parameter_server", "strategy")};
    run.precision = precision.name, run.ranks = 4;
    const auto apart = train(run);
    run.ranks = 1, run.replicas = 4;
    const auto together = train(run);
    for (int segment = 0; segment < together[0]->segments(); ++segment) {
      const Slice whole = together[0]->whole(segment);
      EXPECT_TRUE(at::equal(apart[0]->master(whole), together[0]->master(whole))) << precision.name;
    }
  }
}

TEST(ParameterServerAcrossRanks, TrafficIsThatOfServersAndCopies) {
  constexpr double bytes = (30 + 10 + 1000 + 6 + 77) * 4;
  for (const int ranks : {2, 3}) {
    runRanks(ranks, [&](World& world) {
      SyntheticRun run{.strategy = &find(strategies(), "parameter_server", "strategy"), .replicas = 2};
      run.buckets.bytes = 1 << 20;  // each part of a rank's variables is one message
      const auto devices = cpuDevices(run.replicas);
      Monitor monitor(true);
      const auto strategy = attached(run, devices, monitor, &world);
      const double share = (ranks - 1.0) / ranks;
      EXPECT_DOUBLE_EQ(strategy->traffic().bytesBetweenRanks, 2 * bytes * share / run.replicas);
      EXPECT_DOUBLE_EQ(strategy->traffic().bytesPerStep, 2 * bytes + 2 * bytes * share / run.replicas);
      EXPECT_DOUBLE_EQ(strategy->traffic().messagesPerStep, 2 * 5 + 2 * share * ranks);
    });
  }
}

TEST_P(AcrossRanks, AFailureOfOneEndsTheOthers) {
  if (GetParam().exchange == Exchange::none) GTEST_SKIP() << "no exchange";
  SyntheticRun run = runsOf(GetParam()).front();
  run.replicas = run.ranks = 2;
  run.atBegin = [](int number, int64_t step, FlatBuffers&) {
    if (number == 3 && step == 2) throw DataError("no more data");
  };
  try {
    train(run);
    FAIL();
  } catch (const Error& failure) {
    const std::string text = failure.what();  // of the rank that failed, or of one that lost its connection by that
    EXPECT_TRUE(text == "no more data" || text.find("between ranks failed") != std::string::npos) << text;
  }
}

// Between two ranks a ring brings as many bytes as the tensor has, every second step.
TEST(LocalSgdAcrossRanks, TrafficIsThatOfAnAverageSharedByItsSteps) {
  runRanks(2, [&](World& world) {
    SyntheticRun run{.strategy = &find(strategies(), "local_sgd", "strategy"), .replicas = 1};
    run.localSgd.syncEvery = 2;
    const auto devices = cpuDevices(run.replicas);
    Monitor monitor(true);
    const StrategyTraffic traffic = attached(run, devices, monitor, &world)->traffic();
    EXPECT_GE(traffic.bytesPerStep, (30 + 10 + 1000 + 6 + 77) * 4 / 2);
    EXPECT_DOUBLE_EQ(traffic.bytesBetweenRanks, traffic.bytesPerStep);
  });
}

StrategyTraffic trafficAcross(int ranks, int replicas, const AllReduceEntry& allReduce) {
  StrategyTraffic traffic;
  runRanks(ranks, [&](World& world) {
    const auto devices = cpuDevices(replicas);
    StrategyContext context;
    context.devices = pointersTo(devices), context.world = &world, context.allReduce = &allReduce;
    const StrategyTraffic own = joinedTraffic(context, Collective::sum, 1000);
    if (world.place().rank == 0) traffic = own;
  });
  return traffic;
}

// A ring of two ranks brings each replica as many bytes as it sends.
TEST(TrafficAcrossRanks, IsOfWholeTensorsOrOfSlices) {
  AllReduceEntry spanning = find(allReduces(), "shared", "all-reduce");
  EXPECT_EQ(trafficAcross(2, 2, spanning).bytesPerStep, 1000 + 1000);
  EXPECT_EQ(trafficAcross(2, 2, spanning).messagesPerStep, 2 + 2);
  const AllReduceEntry& hierarchical = find(allReduces(), "hierarchical", "all-reduce");
  EXPECT_EQ(trafficAcross(2, 2, hierarchical).bytesPerStep, 1000 + 500);
  EXPECT_EQ(trafficAcross(2, 2, hierarchical).messagesPerStep, 2 + 2);
  spanning.makeSpanning = find(allReduces(), "nccl", "all-reduce").makeSpanning;
  EXPECT_EQ(trafficAcross(2, 2, spanning).bytesPerStep, 1500) << "as within one process of four replicas";
}

INSTANTIATE_TEST_SUITE_P(Catalog, AcrossRanks, testing::ValuesIn(strategies().begin(), strategies().end()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tandem
