#include "run/verify/verification.h"

#include <gtest/gtest.h>

#include "run/plan/replica_set_options.h"
#include "run/run_point.h"
#include "run/ten_images.h"
#include "run/tiny_config.h"

namespace tandem {
namespace {

/// A plan and its team as they are after the measured window.
struct AfterTheWindow {
  RunPlan plan;
  ReplicaSetOptions team;

  explicit AfterTheWindow(const Config& config)
      : plan(resolvePlan(config)), team(trainingOptions(plan, KernelSelection())) {}
  MeasuredPoint point(double stepSeconds, double runSeconds) const { return {plan, team, {}, stepSeconds, runSeconds}; }
};

constexpr int64_t plenty = int64_t{1} << 40;

TEST(WhyNotVerified, AutoComparesWhereItTakesATenthOfThePointsRepeats) {
  Config config = tinyConfig();
  config.measurement.repeats = 4, config.measurement.verify = "auto";
  const AfterTheWindow run(config);
  const double expected = expectedVerifySeconds(run.point(0.5, 0));
  EXPECT_DOUBLE_EQ(expected, 2 * expectedVerifySeconds(run.point(0.25, 0)));
  EXPECT_EQ(whyNotVerified(run.point(0.5, 2.51 * expected), plenty), "");
  EXPECT_EQ(whyNotVerified(run.point(0.5, 2.49 * expected), plenty),
            "it would take more than 10 % of the time of the point's repeats; --verify=on compares all the same");
  config.measurement.verify = "on";
  EXPECT_EQ(whyNotVerified(AfterTheWindow(config).point(0.5, 0), plenty), "");
}

TEST(WhyNotVerified, MoreReplicasAnd16BitsCostMore) {
  Config config = tinyConfig();
  const double one = expectedVerifySeconds(AfterTheWindow(config).point(1, 0));
  config.placement.replicas = 2;
  const double two = expectedVerifySeconds(AfterTheWindow(config).point(1, 0));
  EXPECT_GT(two, one);
  config.numerics.precision = "bf16";
  EXPECT_GT(expectedVerifySeconds(AfterTheWindow(config).point(1, 0)), two);
}

TEST(WhyNotVerified, TheReferenceMustFitIntoMemory) {
  const AfterTheWindow run(tinyConfig());
  const int64_t needed = verifyBytes(run.point(0, 1));
  EXPECT_GT(needed, 6 * 8 * run.plan.parameters);
  EXPECT_EQ(whyNotVerified(run.point(0, 1), needed + (int64_t{1} << 30)), "");
  const std::string reason = whyNotVerified(run.point(0, 1), needed / 2);
  EXPECT_TRUE(reason.starts_with("the fp64 reference needs about ")) << reason;
  Config larger = tinyConfig();
  larger.step.batch = 8;
  EXPECT_GT(verifyBytes(AfterTheWindow(larger).point(0, 1)), needed);
}

TEST(WhyNotVerified, WhatTrainsNoCommonNetworkIsNotCompared) {
  Config config = tinyConfig();
  config.measurement.verify = "on";
  config.exchange.strategy = "independent";
  EXPECT_EQ(whyNotVerified(AfterTheWindow(config).point(0, 1), plenty), "") << "one replica trains as any other";
  config.placement.replicas = 2;
  EXPECT_EQ(whyNotVerified(AfterTheWindow(config).point(0, 1), plenty),
            "replicas that exchange nothing train no common network");
  config = tinyConfig();
  config.step.forwardOnly = true;
  EXPECT_EQ(whyNotVerified(AfterTheWindow(config).point(0, 1), plenty), "--forward-only trains nothing");
}

Config verified(const char* model) {
  Config config = tinyConfig();
  config.network.model = model;
  config.measurement.verify = "on";
  config.measurement.warmup = "1", config.measurement.steps = 2;
  config.numerics.convolution = "direct";  // without choosing kernels
  return config;
}

EqualityStamp stampOf(const Config& config, const MeasuredCallback& measured = nullptr) {
  const RunRecord record = runPoint(resolvePlan(config), nullptr, measured);
  EXPECT_EQ(record.outcome.kind, OutcomeKind::ok) << record.outcome.reason;
  EXPECT_TRUE(record.equality.has_value());
  return record.equality.value_or(EqualityStamp{.reason = "none"});
}

TEST(Verified, ARecordHasTheStampOfItsRun) {
  Config config = verified("trivial");
  config.placement.replicas = 2;
  std::vector<RunRecord> before;
  const EqualityStamp stamp = stampOf(config, [&](const RunRecord& record) { before.push_back(record); });
  ASSERT_EQ(stamp.reason, "");
  EXPECT_LT(stamp.error.whole, 4 * stamp.plain.front().error.whole);
  EXPECT_TRUE(stamp.bitEqual);
  EXPECT_GT(stamp.seconds, 0);
  EXPECT_GT(stamp.expectedSeconds, 0);
  ASSERT_EQ(before.size(), 1U) << "what is kept if the comparison ends the process";
  EXPECT_EQ(before[0].steps.size(), 4U);
  EXPECT_EQ(before[0].equality->reason.substr(0, 17), "the process ended");
  config.measurement.verify = "off";
  EXPECT_FALSE(runPoint(resolvePlan(config), nullptr).equality.has_value());
}

// Real images come in the order of the seed and change by it, in each step others.
TEST(Verified, TheReferenceGetsTheImagesOfEveryInput) {
  for (const char* input : {"host", "queue"}) {
    for (const char* lossAt : {"replica", "gathered"}) {
      Config config = verified("lenet5");
      config.input.data = tenImages(), config.input.source = input, config.exchange.lossAt = lossAt;
      config.placement.replicas = 2;
      const EqualityStamp stamp = stampOf(config);
      ASSERT_EQ(stamp.reason, "") << input << ' ' << lossAt;
      EXPECT_LT(stamp.error.whole, 1e-4) << input << ' ' << lossAt;
    }
  }
  EXPECT_LT(stampOf(verified("lenet5")).error.whole, 1e-4) << "one batch, made once";
}

TEST(Verified, In16BitsPlainAtenIsComparedInBothPrecisions) {
  Config config = verified("lenet5");
  config.numerics.precision = "bf16";
  const EqualityStamp stamp = stampOf(config);
  ASSERT_EQ(stamp.plain.size(), 2U);
  EXPECT_LT(stamp.plain[0].error.whole, 1e-4);
  EXPECT_GT(stamp.plain[1].error.whole, 1e-3);
  EXPECT_LT(stamp.error.whole, 4 * stamp.plain[1].error.whole);
}

}  // namespace
}  // namespace tandem
