#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "measure/profile/attribution.h"
#include "run/run_point.h"

namespace tandem {
namespace {

Config profiled() {
  Config config;
  config.network.model = "resnet20";
  config.step.batch = 4;
  config.placement.replicas = 2;
  config.placement.oversubscribe = true;
  config.measurement.warmup = std::string("2");
  config.measurement.steps = 6, config.measurement.verify = "off";
  config.step.learningRate = 0.01;
  config.measurement.profile = true;
  return config;
}

RunRecord run(const Config& config) { return runPoint(resolvePlan(config), nullptr); }

Nanos total(const RunRecord& record, Nanos StepParts::*part) {
  Nanos sum{};
  for (const ReplicaProfile& replica : record.profile->replicas) {
    for (const StepParts& step : replica.steps) sum += step.*part;
  }
  return sum;
}

void expectWholeSteps(const RunRecord& record, const std::string& what) {
  ASSERT_EQ(record.outcome.kind, OutcomeKind::ok) << what << ": " << record.outcome.reason;
  ASSERT_TRUE(record.profile) << what;
  EXPECT_EQ(record.profile->lostSteps, 0) << what;
  ASSERT_EQ(record.profile->replicas.size(), 2U) << what;
  for (const ReplicaProfile& replica : record.profile->replicas) {
    ASSERT_EQ(replica.steps.size(), 6U) << what;
    for (size_t i = 0; i < replica.steps.size(); ++i) {
      const StepParts& step = replica.steps[i];
      EXPECT_EQ(step.step, static_cast<int64_t>(i)) << what;
      Nanos sum{};
      for (const Part& part : stepParts()) {
        EXPECT_GE(step.*part.time, Nanos{}) << what << ": " << part.name;
        sum += step.*part.time;
      }
      EXPECT_EQ(sum, step.wall) << what;
      EXPECT_GT(step.forward, Nanos{}) << what;
    }
  }
}

void expectEveryGradientArrives(const RunRecord& record, const std::string& what) {
  const auto& exchanges = record.profile->exchanges;
  ASSERT_GT(exchanges.size(), 1U) << what;
  int64_t bytes = 0;
  for (size_t i = 0; i < exchanges.size(); ++i) {
    bytes += exchanges[i].bytes;
    ASSERT_EQ(exchanges[i].after.size(), 2U) << what;
    EXPECT_EQ(exchanges[i].last[0] + exchanges[i].last[1], 6) << what << ": steps";
    for (size_t replica = 0; i > 0 && replica < 2; ++replica) {
      EXPECT_GE(exchanges[i].after[replica], exchanges[i - 1].after[replica]) << what;
    }
  }
  // Padding between parameters travels too.
  EXPECT_GE(bytes, record.profile->gradientBytes) << what;
  EXPECT_LT(bytes, record.profile->gradientBytes * 11 / 10) << what;
}

// The step sample is taken apart by other clock readings of the same step.
TEST(Profile, agreesWithTheSamplesOfTheSameSteps) {
  const RunRecord record = run(profiled());
  expectWholeSteps(record, "default");
  for (size_t i = 0; i < record.steps.size(); ++i) {
    const StepSample& sample = record.steps[i];
    const StepParts& step = record.profile->replicas[static_cast<size_t>(sample.replica)].steps[i % 6];
    EXPECT_GE(step.wall, sample.wall);
    EXPECT_GE(sample.compute, step.forward + step.loss + step.backward + step.hiddenExchange + step.hiddenUpdate);
    EXPECT_GE(sample.wall - sample.compute, step.exchange + step.update) << "what nothing hides";
    ASSERT_TRUE(step.arrival);
    EXPECT_GE(*step.arrival, step.begin + step.forward + step.backward);
    EXPECT_LE(*step.arrival, step.begin + step.wall);
  }
  EXPECT_GT(record.profile->inputBytes, 4 * 3 * 32 * 32 * 4) << "images in fp32, and labels";
  EXPECT_EQ(record.profile->gradientBytes, 4 * record.placement.parameters);
}

// Work is counted for each call, and for the network as a whole.
TEST(Profile, CallsOfThePlanAddUpToForwardAndBackward) {
  const RunRecord record = run(profiled());
  ASSERT_TRUE(record.profile && record.profile->host);
  const HostTimeline& host = *record.profile->host;
  EXPECT_EQ(host.steps, 12) << "six of each replica";
  EXPECT_EQ(host.wall, total(record, &StepParts::wall));
  Nanos inCalls{};
  double flops = 0;
  for (const WorkGroup& call : host.calls) {
    EXPECT_EQ(call.calls, 12) << call.name;
    inCalls += call.time, flops += call.flops;
  }
  EXPECT_EQ(host.calls.front().name, "conv1 forward");
  EXPECT_LE(inCalls, total(record, &StepParts::forward) + total(record, &StepParts::backward));
  EXPECT_GE(inCalls, host.wall / 10);
  EXPECT_NEAR(flops / (record.placement.flopsPerImage * 4 * 12), 1, 1e-3);
}

TEST(Profile, AutogradsCallsHaveNoTimes) {
  Config config = profiled();
  config.numerics.executor = "autograd";
  EXPECT_FALSE(run(config).profile->host);
}

TEST(Profile, showsWhereEachStrategyWorks) {
  for (const char* allReduce : {"owner", "shared", "copy", "ring", "tree"}) {
    Config config = profiled();
    config.exchange.allReduce = allReduce;
    config.exchange.bucketMib = 0.25;
    const RunRecord record = run(config);
    expectWholeSteps(record, allReduce);
    EXPECT_GT(total(record, &StepParts::hiddenExchange), Nanos{}) << allReduce;
    EXPECT_GT(total(record, &StepParts::update) + total(record, &StepParts::hiddenUpdate), Nanos{}) << allReduce;
    const bool owner = allReduce == std::string("owner");
    EXPECT_EQ(total(record, &StepParts::hiddenUpdate) > Nanos{}, owner) << allReduce << ": others update at the end";
    EXPECT_GT(total(record, &StepParts::idle), Nanos{}) << allReduce;
    expectEveryGradientArrives(record, allReduce);
  }
  for (const char* strategy : {"parameter_server", "independent"}) {
    Config config = profiled();
    config.exchange.strategy = strategy;
    const RunRecord record = run(config);
    expectWholeSteps(record, strategy);
    EXPECT_GT(total(record, &StepParts::update), Nanos{}) << strategy;
    EXPECT_EQ(lastToArrive(record).has_value(), strategy == std::string("parameter_server"));
    if (lastToArrive(record)) {
      expectEveryGradientArrives(record, strategy);
    } else {
      EXPECT_TRUE(record.profile->exchanges.empty());
    }
  }
}

void expectAllExchangedAfterBackward(const Config& config, const std::string& what) {
  const RunRecord record = run(config);
  expectWholeSteps(record, what);
  EXPECT_EQ(total(record, &StepParts::hiddenExchange), Nanos{}) << what;
  EXPECT_EQ(total(record, &StepParts::hiddenUpdate), Nanos{}) << what;
  EXPECT_GT(total(record, &StepParts::exchange), Nanos{}) << what;
  EXPECT_GT(total(record, &StepParts::update), Nanos{}) << what;
  expectEveryGradientArrives(record, what);
  for (const ReplicaProfile& replica : record.profile->replicas) {
    for (const StepParts& step : replica.steps) {
      ASSERT_TRUE(step.arrival) << what;
      const Nanos behind = step.begin + step.wall - *step.arrival;
      EXPECT_GE(behind, step.update) << what << ": all of it begins at the arrival";
    }
  }
  for (const StepSample& sample : record.steps) EXPECT_GT(sample.exposedComm, Nanos{}) << what;
}

TEST(Profile, withoutOverlapHidesNothing) {
  Config config = profiled();
  config.exchange.overlap = "off";
  config.exchange.bucketMib = 0.25;
  for (const char* allReduce : {"owner", "shared", "copy", "ring", "tree"}) {
    config.exchange.allReduce = allReduce;
    expectAllExchangedAfterBackward(config, allReduce);
  }
  config.step.accumulate = 2;
  expectAllExchangedAfterBackward(config, "accumulate");
  config.step.accumulate = 1;
  config.exchange.allReduce = Config().exchange.allReduce;
  config.exchange.strategy = "parameter_server";
  expectAllExchangedAfterBackward(config, config.exchange.strategy);
}

TEST(Profile, isWholeInEveryOtherWayToRun) {
  Config config = profiled();
  config.exchange.lossAt = "gathered";
  expectWholeSteps(run(config), "gathered");
  config = profiled();
  config.step.accumulate = 2;
  expectWholeSteps(run(config), "accumulate");
  config = profiled();
  config.numerics.executor = "autograd";
  expectWholeSteps(run(config), "autograd");
  for (const char* input : {"host", "queue"}) {
    config = profiled();
    config.input.source = input;
    const RunRecord record = run(config);
    expectWholeSteps(record, input);
    EXPECT_GT(total(record, &StepParts::input), Nanos{}) << input;
  }
}

TEST(Profile, ofForwardAloneHasNoExchange) {
  Config config = profiled();
  config.step.forwardOnly = true;
  const RunRecord record = run(config);
  expectWholeSteps(record, "forward only");
  for (const auto part : {&StepParts::loss, &StepParts::backward, &StepParts::exchange, &StepParts::update}) {
    EXPECT_EQ(total(record, part), Nanos{});
  }
  EXPECT_FALSE(record.profile->replicas[0].steps[0].arrival);
  EXPECT_EQ(record.profile->gradientBytes, 0);
  EXPECT_FALSE(lastToArrive(record));
}

TEST(Profile, isAbsentUnlessAskedFor) {
  Config config = profiled();
  config.measurement.profile = false;
  EXPECT_FALSE(run(config).profile);
}

TEST(Profile, changesNoResult) {
  Config config = profiled();
  config.numerics.deterministic = true;
  const RunRecord with = run(config);
  config.measurement.profile = false;
  EXPECT_EQ(with.losses, run(config).losses);
}

TEST(Profile, aTraceThatCannotBeWrittenIsFoundBeforeTheRun) {
  Config config = profiled();
  config.output.trace = "/no/such/folder/run.pftrace";
  const RunRecord record = run(config);
  EXPECT_EQ(record.outcome.kind, OutcomeKind::failed);
  EXPECT_EQ(record.outcome.code, ExitCode::storage);
  EXPECT_NE(record.outcome.reason.find(config.output.trace), std::string::npos) << record.outcome.reason;
  EXPECT_TRUE(record.steps.empty());
}

TEST(Profile, writesTheTraceOfItsSteps) {
  Config config = profiled();
  config.output.trace = testing::TempDir() + "profile_test.pftrace";
  std::filesystem::remove(config.output.trace);
  expectWholeSteps(run(config), "trace");
  EXPECT_GT(std::filesystem::file_size(config.output.trace), 1000U);  // scripts/verify-trace reads what is in it
}

}  // namespace
}  // namespace tandem
