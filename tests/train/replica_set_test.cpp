#include "train/replica_set.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/catalog.h"
#include "models/model.h"
#include "run/plan/replica_set_options.h"
#include "run/repeated_work.h"
#include "support/few_threads.h"
#include "train/captured_step.h"

namespace tandem {
namespace {

struct SmallTeam {
  Graph graph;
  ReplicaSetOptions options;
  explicit SmallTeam(int64_t replicas, std::string_view lossAt = "replica", std::string_view input = "device")
      : graph(buildModel("resnet20", {})) {
    Config config;
    config.network.model = "resnet20";
    config.step.batch = 2;
    config.placement.replicas = replicas;
    config.placement.oversubscribe = true;
    config.exchange.lossAt = lossAt;
    config.input.source = input;
    options = trainingOptions(resolvePlan(config), KernelSelection());
  }
};

TEST(ReplicaSet, rethrowsTheFirstFailureAndFreesTheOthers) {
  SmallTeam small(3);
  ReplicaSet team(small.options);
  try {
    team.run([](ReplicaSet::Member& member) {
      member.step();
      if (member.index() == 1) throw DataError("image 7 is broken");
      for (int i = 0; i < 50; ++i) member.step();  // would wait for replica 1 for ever
    });
    FAIL() << "the failure was lost";
  } catch (const DataError& failure) {
    EXPECT_STREQ(failure.what(), "image 7 is broken");
  }
}

TEST(ReplicaSet, AThreadThatTheSystemRefusesEndsTheOthers) {
#ifdef TANDEM_SANITIZED
  GTEST_SKIP() << "a sanitizer needs address space without a limit";
#endif
  SmallTeam small(64);
  ReplicaSet team(small.options);
  const FewThreads few(16);
  EXPECT_ANY_THROW(team.run([](ReplicaSet::Member& member) { member.barrier(); }));
}

TEST(ReplicaSet, membersSeeEqualWeightsAfterAStep) {
  SmallTeam small(2);
  ReplicaSet team(small.options);
  std::array<at::Tensor, 2> weights;
  team.run([&weights](ReplicaSet::Member& member) {
    member.step();
    member.finish();
    weights[static_cast<size_t>(member.index())] = member.buffers().master(member.buffers().whole(0)).clone();
  });
  EXPECT_TRUE(weights[0].equal(weights[1]));
}

TEST(ReplicaSet, lossIsOfTheReplicasOwnRowsOrOfTheJoinedBatch) {
  for (const LossPlacementEntry& place : lossPlacements()) {
    SmallTeam small(2, place.name);
    ReplicaSet team(small.options);
    std::array<std::vector<double>, 2> losses;
    team.run([&losses](ReplicaSet::Member& member) {
      member.step();
      losses[static_cast<size_t>(member.index())] = member.losses();
    });
    ASSERT_EQ(losses[0].size(), 1U);
    EXPECT_EQ(losses[0] == losses[1], place.name == "gathered") << place.name;
  }
}

/// Losses of replica 0 and its weights after six steps.
struct Trained {
  std::vector<double> losses;
  at::Tensor weights;
};

Trained sixSteps(const ReplicaSetOptions& options) {
  ReplicaSet team(options);
  Trained trained;
  team.run([&trained](ReplicaSet::Member& member) {
    for (int i = 0; i < 6; ++i) member.step();
    member.finish();
    if (member.index() != 0) return;
    trained.losses = member.losses();
    trained.weights = member.buffers().master(member.buffers().whole(0)).clone();
  });
  return trained;
}

// Each replica's gradient is rounded once, behind its micro-batches, and the sum of all once more.
TEST(ReplicaSet, GradientsAreRoundedOnceTheyAreWhole) {
  for (const ExecutorEntry& executor : executors()) {
    SmallTeam small(2);
    small.options.executor = &executor, small.options.accumulate = 2;
    small.options.allReduce = &find(allReduces(), "shared", "all-reduce");
    small.options.precision = &withGradients(*small.options.precision, gradientPrecisionOf(at::kBFloat16));
    std::array<at::Tensor, 2> written, sums;
    ReplicaSet(small.options).run([&](ReplicaSet::Member& member) {
      member.step();
      const auto index = static_cast<size_t>(member.index());
      written[index] = member.buffers().written(member.buffers().whole(0)).clone();
      sums[index] = member.buffers().gradient(member.buffers().whole(0)).clone();
    });
    const auto rounded = [](const at::Tensor& values) { return values.to(at::kBFloat16).to(at::kFloat); };
    EXPECT_FALSE(at::equal(written[0], rounded(written[0]))) << executor.name;
    const at::Tensor exact = (rounded(written[0]) + rounded(written[1])).to(at::kBFloat16);
    for (const at::Tensor& sum : sums) EXPECT_TRUE(at::equal(sum, exact)) << executor.name;
  }
}

TEST(ReplicaSet, RecordedStepsTrainAsOthersDo) {
  for (const SourceEntry& source : sources()) {
    if (source.atAddress) continue;  // nobody sends
    SmallTeam small(2, "replica", source.name);
    small.options.accumulate = 2;
    const Trained plain = sixSteps(small.options);
    std::array<WorkLog, 2> logs;
    std::atomic<size_t> made{0};
    small.options.recorder = [&](const Device&) { return std::make_unique<RepeatedGraph>(logs[made++]); };
    const Trained recorded = sixSteps(small.options);
    EXPECT_EQ(recorded.losses, plain.losses) << source.name;
    EXPECT_TRUE(recorded.weights.equal(plain.weights)) << source.name;
    for (const WorkLog& log : logs) EXPECT_EQ(log, WorkLog({"record", "launch", "launch", "launch"})) << source.name;
  }
}

TEST(ReplicaSet, AStepThatCannotBeRecordedIsReported) {
  SmallTeam small(2);
  small.options.recorder = [](const Device&) {
    return std::make_unique<WatchedWork>(
        [] { TORCH_CHECK(false, "operation not permitted when stream is capturing"); });
  };
  EXPECT_THROW(sixSteps(small.options), CaptureFailed);
}

// Caches are emptied then, of all devices: what a step took afterwards would stay there beside the record's own.
TEST(ReplicaSet, NobodyRecordsBeforeAllHaveDoneTheStepsBefore) {
  SmallTeam small(2);
  small.options.strategy = &find(strategies(), "independent", "--strategy");
  std::atomic<int64_t> done{0};
  std::array<int64_t, 2> doneBefore{};
  std::atomic<size_t> made{0};
  small.options.recorder = [&](const Device&) {
    return std::make_unique<WatchedWork>([&done, &before = doneBefore.at(made++)] { before = done; });
  };
  ReplicaSet team(small.options);
  team.run([&done](ReplicaSet::Member& member) {
    for (int i = 0; i <= CapturedStep::eagerSteps; ++i) {
      if (member.index() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(50));
      member.step();
      ++done;
    }
  });
  for (const int64_t before : doneBefore) EXPECT_GE(before, 2 * CapturedStep::eagerSteps);
}

TEST(ReplicaSetOptions, TheUpdateIsTheConfigurations) {
  Config config;
  config.step.optimizer = "adamw";
  config.step.learningRate = 0.1;
  config.step.momentum = 0.2;
  config.step.weightDecay = 0.3;
  config.step.nesterov = true;
  config.step.adamBeta1 = 0.4;
  config.step.adamBeta2 = 0.5;
  config.step.adamEpsilon = 0.6;
  config.step.schedule = "cosine";
  config.measurement.steps = 7;
  const OptimizerOptions options = optimizerOptions(config, setupOf(config));
  EXPECT_EQ(options.rule->name, "adamw");
  EXPECT_EQ(options.learningRate, 0.1);
  EXPECT_EQ(options.momentum, 0.2);
  EXPECT_EQ(options.weightDecay, 0.3);
  EXPECT_TRUE(options.nesterov);
  EXPECT_EQ(options.beta1, 0.4);
  EXPECT_EQ(options.beta2, 0.5);
  EXPECT_EQ(options.epsilon, 0.6);
  EXPECT_EQ(options.schedule->name, "cosine");
  EXPECT_EQ(options.course.totalSteps, 7);
}

}  // namespace
}  // namespace tandem
