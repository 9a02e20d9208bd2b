// What strategies say of their exchange.
#include <gtest/gtest.h>

#include "strategy/oracles.h"

namespace tandem {
namespace {

/// What the strategy of a run says once all replicas are attached.
struct Exchanged {
  std::string sums;
  StrategyTraffic traffic;
};

Exchanged exchanged(const SyntheticRun& run) {
  const auto devices = cpuDevices(run.replicas);
  Monitor monitor(true);
  const auto made = attached(run, devices, monitor);
  return {made->sums(), made->traffic()};
}

StrategyTraffic trafficOf(const std::string& strategy, const std::string& parameterDevice, int replicas,
                          const std::string& allReduce = "shared") {
  return exchanged({.strategy = &find(strategies(), strategy, "strategy"),
                    .allReduce = allReduce,
                    .parameterDevice = parameterDevice,
                    .replicas = replicas})
      .traffic;
}

// Buckets of 192, 4032 and 384 bytes.
TEST(AllReducesBySize, EachSumsTheBucketsOfItsSizes) {
  const SyntheticRun run{
      .strategy = &find(strategies(), "replicated", "strategy"), .allReduce = "tree", .larger = "ring", .replicas = 4};
  const auto [sums, traffic] = exchanged(run);
  EXPECT_EQ(sums, "tree for 1 of up to 300 B, ring for 2 larger");
  EXPECT_DOUBLE_EQ(traffic.messagesPerStep, 1.5 + 2 * 6);
  SyntheticRun one = run;
  one.larger = "";
  EXPECT_EQ(exchanged(one).sums, "tree");
  EXPECT_DOUBLE_EQ(exchanged(one).traffic.messagesPerStep, 3 * 1.5);
  SyntheticRun averaging{
      .strategy = &find(strategies(), "local_sgd", "strategy"), .allReduce = "tree", .larger = "ring", .replicas = 4};
  averaging.precision = "bf16";  // weights and batch-norm, in fp32
  EXPECT_EQ(exchanged(averaging).sums, "tree for 0 of up to 300 B, ring for 2 larger");
}

TEST(Traffic, FollowsTheTypeOfGradients) {
  SyntheticRun run{.strategy = &find(strategies(), "replicated", "strategy"), .replicas = 4};
  const double whole = exchanged(run).traffic.bytesPerStep;
  SyntheticRun owners = run;
  owners.allReduce = "owner", owners.gradients = "bf16";
  EXPECT_NEAR(exchanged(owners).traffic.bytesPerStep, whole * 3 / 4, 1.5 * 5 * 64) << "weights stay fp32";
  for (const char* type : {"bf16", "fp16"}) {
    run.gradients = type;
    EXPECT_GE(exchanged(run).traffic.bytesPerStep, whole / 2) << type;
    EXPECT_LE(exchanged(run).traffic.bytesPerStep, whole / 2 + 1.5 * 5 * 64) << type;  // padding travels too
  }
}

TEST(Traffic, FollowsThePlacement) {
  constexpr double bytes = (30 + 10 + 1000 + 6 + 77) * 4;
  EXPECT_EQ(trafficOf("independent", "cpu", 4).bytesPerStep, 0);
  EXPECT_EQ(trafficOf("replicated", "cpu", 1).bytesPerStep, 0);
  EXPECT_GE(trafficOf("replicated", "cpu", 4).bytesPerStep, 1.5 * bytes);
  EXPECT_LE(trafficOf("replicated", "cpu", 4).bytesPerStep, 1.5 * (bytes + 5 * 64));  // padding travels too
  for (const int replicas : {1, 4}) {
    const StrategyTraffic owner = trafficOf("replicated", "cpu", replicas, "owner");
    EXPECT_EQ(owner.bytesPerStep, trafficOf("replicated", "cpu", replicas).bytesPerStep) << replicas;
    EXPECT_EQ(owner.messagesPerStep, trafficOf("replicated", "cpu", replicas).messagesPerStep) << replicas;
  }
  EXPECT_DOUBLE_EQ(trafficOf("parameter_server", "cpu", 1).bytesPerStep, 2 * bytes);
  EXPECT_DOUBLE_EQ(trafficOf("parameter_server", "cpu", 4).messagesPerStep, 10);
  EXPECT_DOUBLE_EQ(trafficOf("parameter_server", "device", 4).bytesPerStep, 1.5 * bytes);
  EXPECT_DOUBLE_EQ(trafficOf("parameter_server", "cpu:0", 1).bytesPerStep, 0);
}

}  // namespace
}  // namespace tandem
