// Parameter servers whose gradients are of older weights, with replicas of one process and of several.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <limits>
#include <mutex>
#include <thread>
#include <tuple>

#include "strategy/oracles.h"
#include "support/precisions.h"

namespace tandem {
namespace {

const StrategyEntry& inMode(std::string_view mode) { return strategyInMode("parameter_server", mode); }

/// With gradients that depend on the weights, so that old ones show. `spread`: variables lie on replicas, half of the
/// ranks serve, and gradients are exchanged behind backward.
SyntheticRun runIn(std::string_view mode, std::string_view precision, std::pair<int, int> ranksAndReplicas,
                   bool spread) {
  SyntheticRun run{.strategy = &inMode(mode), .parameterDevice = spread ? "device" : "cpu", .slope = 0.3};
  run.precision = precision, std::tie(run.ranks, run.replicas) = ranksAndReplicas;
  run.servers = {.ranks = spread ? (run.ranks + 1) / 2 : 0, .maxStaleness = 0, .timeoutSeconds = 20};
  run.overlap = !spread;
  if (find(precisions(), precision, "precision").lossScaling) run.lossScale = LossScaleRule{.initial = 1024};
  return run;
}

std::vector<SyntheticRun> runsIn(std::string_view mode) {
  std::vector<SyntheticRun> runs;
  for (const bool spread : {false, true}) {
    for (const auto& size : {std::pair(1, 1), {1, 2}, {2, 1}, {2, 2}, {4, 1}}) {
      runs.push_back(runIn(mode, "fp32", size, spread));
    }
    for (const Precision& precision : precisionsOnCpu()) runs.push_back(runIn(mode, precision.name, {2, 2}, spread));
  }
  return runs;
}

std::string nameOf(const SyntheticRun& run) {
  return concat(run.strategy->mode, ' ', run.precision, ", ", run.ranks, " ranks of ", run.replicas, " replicas, ",
                run.parameterDevice, ", ", run.servers.ranks, " servers");
}

using Results = std::vector<std::unique_ptr<FlatBuffers>>;

/// `expected`: the masters of a parameter.
void expectMasters(const SyntheticRun& run, const Results& results,
                   const std::function<at::Tensor(int parameter)>& expected) {
  for (int i = 0; i < results[0]->parameters(); ++i) {
    const at::Tensor wanted = expected(i);
    const Slice slice = results[0]->slice(i);
    for (size_t number = 0; number < results.size(); ++number) {
      const at::Tensor master = results[number]->master(slice);
      EXPECT_LE(relativeDifference(master, wanted), 4 * roundingBound(run))
          << nameOf(run) << ", replica " << number << ", parameter " << i;
      EXPECT_TRUE(at::equal(master, results[0]->master(slice))) << nameOf(run) << ", replica " << number;
      EXPECT_TRUE(at::equal(results[number]->weights(slice), results[0]->weights(slice))) << nameOf(run);
    }
  }
}

/// What each rank's strategy knows at the end.
class StalenessOfRanks {
 public:
  explicit StalenessOfRanks(SyntheticRun& run) {
    run.lookAt = [this, replicas = run.replicas](int number, const Strategy& strategy) {
      if (number % replicas != 0) return;
      const std::lock_guard lock(mutex_);
      of_.push_back(strategy.staleness().value_or(Staleness()));
    };
  }
  /// Of servers alone.
  std::vector<Staleness> ofServers() const {
    std::vector<Staleness> servers;
    std::ranges::copy_if(of_, std::back_inserter(servers), [](const Staleness& each) { return each.updates > 0; });
    EXPECT_FALSE(servers.empty()) << "nobody served";
    return servers;
  }

 private:
  std::mutex mutex_;
  std::vector<Staleness> of_;
};

TEST(StagedServer, UpdatesByGradientsOfWeightsOneUpdateOld) {
  for (SyntheticRun run : runsIn("staged")) {
    StalenessOfRanks staleness(run);
    const Results results = train(run);
    expectMasters(run, results, [&](int parameter) { return stagedWeights(run, parameter, run.steps).newest; });
    for (const Staleness& each : staleness.ofServers()) {
      EXPECT_EQ(each.updates, run.steps) << nameOf(run);
      EXPECT_EQ(each.sum, run.steps - 1) << nameOf(run);
      EXPECT_EQ(each.most, 1) << nameOf(run);
    }
  }
}

TEST(StagedServer, AStepStartsFromTheWeightsBeforeTheUpdateBefore) {
  for (SyntheticRun run : runsIn("staged")) {
    run.atBegin = [&](int number, int64_t step, FlatBuffers& buffers) {
      for (int i = 0; i < buffers.parameters(); ++i) {
        const at::Tensor seen = stagedWeights(run, i, step).seen;
        EXPECT_LE(relativeDifference(buffers.weights(buffers.slice(i)), seen), 4 * roundingBound(run))
            << nameOf(run) << ", replica " << number << ", step " << step << ", parameter " << i;
      }
    };
    run.steps = 4;
    train(run);
  }
}

// The gradients do not depend on the weights here, so that a step that is left out changes nothing else.
TEST(StagedServer, AStepThatOverflowsOnOneIsLeftOutByAll) {
  for (SyntheticRun run : runsIn("staged")) {
    if (!run.lossScale) continue;
    run.slope = 0;
    SyntheticRun without = run;
    without.leftOut = 2, --without.steps;
    const Results expected = train(without);
    const int last = run.ranks * run.replicas - 1;
    run.spoil = overflowOf(last);
    StalenessOfRanks staleness(run);
    const Results results = train(run);
    for (const auto& buffers : results) {
      for (int segment = 0; segment < buffers->segments(); ++segment) {
        const Slice whole = buffers->whole(segment);
        EXPECT_TRUE(at::equal(buffers->master(whole), expected[0]->master(whole))) << nameOf(run);
      }
    }
    for (const Staleness& each : staleness.ofServers()) {
      EXPECT_EQ(each.updates, 4) << nameOf(run);
      EXPECT_EQ(each.sum, 2) << nameOf(run) << ": the first update, and the one behind the step that was left out";
    }
  }
}

TEST(AsyncServerOfRanks, WithoutStalenessMakesTheUpdatesOfASynchronousRunOneByOne) {
  for (SyntheticRun run : runsIn("async")) {
    StalenessOfRanks staleness(run);
    const Results results = train(run);
    expectMasters(run, results, [&](int parameter) { return roundsMaster(run, parameter, run.steps); });
    const auto servers = staleness.ofServers();
    for (const Staleness& each : servers) {
      EXPECT_EQ(each.updates, run.steps * run.ranks) << nameOf(run);
      EXPECT_EQ(each.sum, run.steps * run.ranks * (run.ranks - 1) / 2) << nameOf(run);
      EXPECT_EQ(each.most, run.ranks - 1) << nameOf(run);
    }
  }
}

TEST(AsyncServerOfRanks, LeavesOutTheUpdateOfTheRankThatOverflows) {
  for (SyntheticRun run : runsIn("async")) {
    if (!run.lossScale) continue;
    const int last = run.ranks * run.replicas - 1;
    run.spoil = overflowOf(last);
    run.atEnd = [&](int number, const LossScale& scale) {
      EXPECT_EQ(scale.state().skipped, number / run.replicas == run.ranks - 1 ? 1 : 0) << nameOf(run);
    };
    const Results results = train(run);
    const auto skips = [&](int rank, int64_t step) { return rank == run.ranks - 1 && step == 2; };
    expectMasters(run, results, [&](int parameter) { return roundsMaster(run, parameter, run.steps, skips); });
  }
}

// One rank is late in each of its steps.
TEST(AsyncServerOfRanks, NoRankIsFurtherAheadThanItMayBe) {
  for (const int64_t bound : {0, 1, 3}) {
    SyntheticRun run{.strategy = &inMode("async")};
    run.ranks = 3, run.replicas = 2, run.steps = 8;
    run.servers = {.maxStaleness = bound, .timeoutSeconds = 20};
    std::array<std::atomic<int64_t>, 3> begun{};
    run.atBegin = [&](int number, int64_t step, FlatBuffers&) {
      const int rank = number / run.replicas;
      begun[static_cast<size_t>(rank)].store(step);
      for (const auto& other : begun) EXPECT_LE(step, other.load() + bound + 1) << "a rank may be between two steps";
      if (rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    };
    StalenessOfRanks staleness(run);
    const Results results = train(run);
    for (const auto& buffers : results) {
      const Slice whole = buffers->whole(0);
      EXPECT_TRUE(at::equal(buffers->master(whole), results[0]->master(whole))) << bound;
      EXPECT_TRUE(buffers->master(whole).isfinite().all().item<bool>());
    }
    for (const Staleness& each : staleness.ofServers()) {
      EXPECT_EQ(each.updates, 3 * run.steps);
      EXPECT_LE(each.most, (2 * bound + 1) * 2);
    }
  }
}

/// What a run of any mode ends with: without staleness each has one result.
at::Tensor expectedOf(const SyntheticRun& run, int parameter) {
  if (run.strategy->ranksUpdateAlone) return roundsMaster(run, parameter, run.steps);
  if (run.strategy->exchange == Exchange::stale) return stagedWeights(run, parameter, run.steps).newest;
  return expectedMaster(run, parameter, run.steps, 0, replicasOf(run));
}

// One server has all ranks in its group, two have groups of their own; the third of three has no variable with 2
// values.
TEST(ServerModes, ProcessesThatOnlyServeMakeTheSameUpdates) {
  for (const ServerModeEntry& mode : serverModes()) {
    for (const auto& [ranks, replicas, servers] : {std::tuple(1, 1, 1), {2, 2, 1}, {2, 1, 2}, {3, 2, 2}, {1, 1, 7}}) {
      for (const Precision& precision : precisionsOnCpu()) {
        SyntheticRun run = runIn(mode.name, precision.name, {ranks, replicas}, false);
        run.servers = {.alone = servers, .maxStaleness = 0, .timeoutSeconds = 20};
        if (mode.strategy.exchange == Exchange::synchronous) run.slope = 0;
        StalenessOfRanks staleness(run);
        const Results results = train(run);
        expectMasters(run, results, [&](int parameter) { return expectedOf(run, parameter); });
        if (mode.strategy.exchange == Exchange::synchronous) continue;
        EXPECT_FALSE(staleness.ofServers().empty()) << nameOf(run);
      }
    }
  }
}

TEST(ServerModes, AProcessThatOnlyServesMovesWhatRanksSendAndGet) {
  constexpr double bytes = (30 + 10 + 1000 + 6 + 77) * 4;
  for (const ServerModeEntry& mode : serverModes()) {
    SyntheticRun run = runIn(mode.name, "fp32", {2, 2}, false);
    run.servers = {.alone = 1, .maxStaleness = 0, .timeoutSeconds = 20};
    run.buckets.bytes = 1 << 20;
    run.lookAt = [&](int number, const Strategy& strategy) {
      if (number >= replicasOf(run)) return;
      EXPECT_DOUBLE_EQ(strategy.traffic().bytesBetweenRanks, 2 * bytes / run.replicas) << mode.name;
      EXPECT_DOUBLE_EQ(strategy.traffic().messagesPerStep, 2 * 5 + 2) << mode.name;
    };
    train(run);
  }
}

TEST(ServerModes, AFailureOfOneEndsTheOthers) {
  for (const ServerModeEntry& mode : serverModes()) {
    SyntheticRun run{.strategy = &mode.strategy};
    run.ranks = 2, run.replicas = 2;
    run.servers = {.maxStaleness = 1, .timeoutSeconds = 20};
    run.atBegin = [](int number, int64_t step, FlatBuffers&) {
      if (number == 3 && step == 2) throw DataError("no more data");
    };
    try {
      train(run);
      FAIL() << mode.name;
    } catch (const Error& failure) {
      const std::string text = failure.what();  // of the rank that failed, or of one that lost its connection by that
      const bool lost =
          text.find("between ranks failed") != std::string::npos || text.find("could not") != std::string::npos;
      EXPECT_TRUE(text == "no more data" || lost) << text;
    }
  }
}

TEST(ServerModes, TheFirstIsTheStrategyItself) {
  const StrategyEntry& server = find(strategies(), "parameter_server", "strategy");
  EXPECT_EQ(&strategyInMode("replicated", "async"), &find(strategies(), "replicated", "strategy"));
  EXPECT_EQ(strategyInMode("parameter_server", "sync").make, server.make);
  EXPECT_EQ(optionsText(server), "parameter_server");
  for (const ServerModeEntry& mode : serverModes()) {
    EXPECT_EQ(mode.strategy.exchange, mode.name == "sync" ? Exchange::synchronous : Exchange::stale);
    if (mode.name == "sync") continue;
    EXPECT_EQ(optionsText(mode.strategy), concat("parameter_server --server-mode=", mode.name));
  }
}

}  // namespace
}  // namespace tandem
