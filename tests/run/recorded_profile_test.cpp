#include <gtest/gtest.h>

#include "base/text.h"
#include "measure/profile/attribution.h"
#include "observe/run_observer.h"
#include "run/measured_run.h"
#include "run/plan/plan.h"
#include "run/plan/replica_set_options.h"
#include "run/plan/select_kernels.h"
#include "run/repeated_work.h"
#include "train/captured_step.h"

namespace tandem {
namespace {

constexpr int64_t measuredSteps = 6;
constexpr int64_t untilLaunched = CapturedStep::eagerSteps + 1;

Config profiled() {
  Config config;
  config.network.model = "resnet20";
  config.step.batch = 4;
  config.placement.replicas = 2;
  config.placement.oversubscribe = true;
  config.measurement.warmup = concat(untilLaunched);
  config.measurement.steps = measuredSteps;
  config.step.learningRate = 0.01;
  config.exchange.bucketMib = 0.25;  // several exchanges, and parts
  config.measurement.profile = true;
  return config;
}

enum class Recorded { whole, inParts };

/// A profile whose steps are recorded.
RunRecord run(const Config& config, Recorded how, int64_t fewestWarmup = untilLaunched) {
  const RunPlan plan = resolvePlan(config);
  const Graph& graph = *plan.graph;
  ReplicaSetOptions options = trainingOptions(plan, selectKernels(plan, *plan.graph));
  StrategyEntry enqueuing = *options.strategy;
  enqueuing.enqueuesOnly = [](const AllReduceBySize&, int64_t) { return true; };
  if (how == Recorded::whole) options.strategy = &enqueuing;
  options.recorder = [](const Device&) {
    static thread_local WorkLog log;
    return std::make_unique<RepeatedGraph>(log);
  };
  Profiler profiler(std::vector<std::string>(static_cast<size_t>(config.placement.replicas)));
  RunObserver watch(plan.cores, plan.cudaDevices, {});
  ReplicaSet team(options);
  MeasuredRun measured({.config = plan.config,
                        .globalBatch = plan.globalBatch,
                        .graph = &graph,
                        .watch = &watch,
                        .profiler = &profiler,
                        .fewestWarmup = fewestWarmup},
                       nullptr);
  team.run([&](ReplicaSet::Member& member) { measured.body(member); });
  RunRecord record;
  measured.fill(record);
  watch.fill(record);
  return record;
}

void expectOnlyLaunches(const RunRecord& record) {
  ASSERT_TRUE(record.profile);
  EXPECT_EQ(record.profile->lostSteps, 0);
  ASSERT_EQ(record.profile->replicas.size(), 2U);
  for (const ReplicaProfile& replica : record.profile->replicas) {
    ASSERT_EQ(replica.steps.size(), static_cast<size_t>(measuredSteps));
    for (const StepParts& step : replica.steps) {
      EXPECT_GT(step.launch, Nanos{}) << step.step;
      EXPECT_EQ(step.forward + step.loss + step.backward, Nanos{}) << step.step;
      Nanos sum{};
      for (const Part& part : stepParts()) sum += step.*part.time;
      EXPECT_EQ(sum, step.wall) << step.step;
    }
  }
}

void expectTheLaunchAlone(const Config& config) {
  const RunRecord record = run(config, Recorded::whole);
  expectOnlyLaunches(record);
  for (const ReplicaProfile& replica : record.profile->replicas) {
    for (const StepParts& step : replica.steps) {
      EXPECT_FALSE(step.arrival) << step.step;
      EXPECT_EQ(step.hiddenExchange + step.hiddenUpdate + step.update, Nanos{}) << step.step;
    }
  }
  EXPECT_TRUE(record.profile->exchanges.empty());
  EXPECT_FALSE(lastToArrive(record));
}

TEST(RecordedProfile, OfOneGraphTheHostSeesTheLaunchAlone) {
  for (const char* overlap : {"on", "off"}) {
    Config config = profiled();
    config.exchange.overlap = overlap;
    expectTheLaunchAlone(config);
  }
}

TEST(RecordedProfile, BetweenThePartsOfAGraphGradientsAreHandedOver) {
  const RunRecord record = run(profiled(), Recorded::inParts);
  expectOnlyLaunches(record);
  for (const ReplicaProfile& replica : record.profile->replicas) {
    for (const StepParts& step : replica.steps) {
      EXPECT_GT(step.hiddenExchange, Nanos{}) << step.step;
      ASSERT_TRUE(step.arrival) << step.step;
      EXPECT_GE(*step.arrival, step.begin + step.launch + step.hiddenExchange) << step.step;
    }
  }
  const auto& exchanges = record.profile->exchanges;
  EXPECT_GT(exchanges.size(), 1U);
  for (const ExchangeArrivals& exchange : exchanges) EXPECT_EQ(exchange.last[0] + exchange.last[1], measuredSteps);
  EXPECT_TRUE(lastToArrive(record));
}

TEST(RecordedProfile, WithoutOverlapAllIsHandedOverBehindTheGraph) {
  Config config = profiled();
  config.exchange.overlap = "off";
  const RunRecord record = run(config, Recorded::inParts);
  expectOnlyLaunches(record);
  for (const ReplicaProfile& replica : record.profile->replicas) {
    for (const StepParts& step : replica.steps) {
      EXPECT_EQ(step.hiddenExchange + step.hiddenUpdate, Nanos{}) << step.step;
      EXPECT_GT(step.exchange, Nanos{}) << step.step;
      ASSERT_TRUE(step.arrival) << step.step;
      EXPECT_GE(*step.arrival, step.begin + step.launch) << step.step;
    }
  }
  EXPECT_GT(record.profile->exchanges.size(), 1U);
}

TEST(RecordedProfile, WarmUpLastsUntilTheStepIsLaunched) {
  for (const char* asked : {"0", "2", "auto"}) {
    Config config = profiled();
    config.measurement.warmup = concat(asked);
    config.measurement.budget = 1e-9;  // spent at once
    const RunRecord record = run(config, Recorded::inParts);
    if (config.measurement.warmup == "auto") {
      EXPECT_GE(record.warmup.steps, untilLaunched);
    } else {
      EXPECT_EQ(record.warmup.steps, untilLaunched) << asked;
    }
    expectOnlyLaunches(record);
    const std::string notes = join(record.notes, "\n");
    const bool said = notes.find(concat("although --warmup=", asked)) != std::string::npos;
    EXPECT_EQ(said, config.measurement.warmup != "auto") << notes;
  }
}

TEST(RecordedProfile, WithoutALeastWarmUpItIsAsLongAsAsked) {
  Config config = profiled();
  config.measurement.warmup = concat(0);
  const RunRecord record = run(config, Recorded::inParts, 0);
  EXPECT_EQ(record.warmup.steps, 0);
  ASSERT_TRUE(record.profile);
  const auto& steps = record.profile->replicas.front().steps;
  ASSERT_EQ(steps.size(), static_cast<size_t>(measuredSteps));
  EXPECT_EQ(steps[CapturedStep::eagerSteps - 1].launch, Nanos{});
  EXPECT_GT(steps[CapturedStep::eagerSteps].launch, Nanos{}) << "recorded, and launched for the first time";
}

}  // namespace
}  // namespace tandem
