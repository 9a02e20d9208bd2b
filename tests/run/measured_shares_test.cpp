#include "run/measured_shares.h"

#include <gtest/gtest.h>

#include "run/run_point.h"
#include "run/tiny_config.h"

namespace tandem {
namespace {

using Shares = std::vector<int64_t>;

TEST(SharesByRates, OfADeviceOfHalfTheSpeedAreHalf) {
  std::vector<Shares> tried;
  const auto timesOf = [&](const Shares& shares) {
    tried.push_back(shares);
    return std::vector{1.0 * static_cast<double>(shares[0]), 2.0 * static_cast<double>(shares[1])};
  };
  EXPECT_EQ(sharesByRates(96, {48, 48}, timesOf), (Shares{64, 32}));
  EXPECT_EQ(tried, (std::vector<Shares>{{48, 48}, {64, 32}}));
}

// A step takes 10 beside 1 for each image; the second device is three times as slow. All are done at once where
// 10 + a = 3 (10 + b): with 65 and 15 of 80. Rates of equal shares say 60 and 20.
TEST(SharesByRates, AreTriedAgainWhereTheRateDependsOnTheShare) {
  int trials = 0;
  const auto timesOf = [&](const Shares& shares) {
    ++trials;
    return std::vector{10 + static_cast<double>(shares[0]), 3 * (10 + static_cast<double>(shares[1]))};
  };
  const Shares found = sharesByRates(80, {40, 40}, timesOf);
  EXPECT_GE(found[0], 64);
  EXPECT_LE(found[0], 66);
  EXPECT_EQ(found[0] + found[1], 80);
  EXPECT_LE(trials, 4);
}

// Noise: the second trial says the opposite of the first.
TEST(SharesByRates, TheBestThatWasSeenIsTaken) {
  int trials = 0;
  const auto timesOf = [&](const Shares&) {
    static constexpr double times[][2] = {{3, 4}, {9, 1}, {5, 6}, {7, 8}};
    const auto& of = times[trials++];
    return std::vector{of[0], of[1]};
  };
  EXPECT_EQ(sharesByRates(10, {5, 5}, timesOf), (Shares{5, 5}));
}

Config strong(const char* split) {
  Config config = tinyConfig();
  config.network.model = "lenet5", config.numerics.convolution = "direct";
  config.measurement.scaling = "strong", config.measurement.warmup = "1", config.measurement.steps = 3;
  config.step.batch = 16, config.step.split = split;
  return config;
}

RunRecord recordOf(const Config& config) {
  RunRecord record = runPoint(resolvePlan(config), nullptr);
  EXPECT_EQ(record.outcome.kind, OutcomeKind::ok) << record.outcome.reason;
  return record;
}

// Losses are means over all images, as of one replica.
TEST(UnequalShares, HaveTheLossesOfOneReplica) {
  const RunRecord one = recordOf(strong("equal"));
  EXPECT_TRUE(one.placement.shares.empty());
  for (const char* lossAt : {"replica", "gathered"}) {
    Config config = strong("13:1:2");
    config.placement.replicas = 3, config.exchange.lossAt = lossAt;
    const RunRecord three = recordOf(config);
    EXPECT_EQ(three.placement.shares, (Shares{13, 1, 2}));
    ASSERT_EQ(three.losses.size(), one.losses.size());
    for (size_t i = 0; i < one.losses.size(); ++i) EXPECT_NEAR(three.losses[i], one.losses[i], 1e-5) << lossAt;
  }
}

TEST(UnequalShares, AreMeasuredBeforeTheRun) {
  Config config = strong("measured");
  config.placement.replicas = 2;
  std::vector<Progress> seen;
  const RunRecord record = runPoint(resolvePlan(config), [&](const Progress& progress) { seen.push_back(progress); });
  ASSERT_EQ(record.outcome.kind, OutcomeKind::ok) << record.outcome.reason;
  EXPECT_EQ(record.globalBatch, 16);
  EXPECT_EQ(std::ranges::count(seen, Phase::sharingOut, &Progress::phase) > 0, true);
  const Shares& shares = record.placement.shares;  // none where both were as fast
  EXPECT_TRUE(shares.empty() || shares[0] + shares[1] == 16);
}

}  // namespace
}  // namespace tandem
