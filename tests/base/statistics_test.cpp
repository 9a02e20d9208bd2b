#include "base/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace tandem {
namespace {

using Values = std::vector<double>;

/// 1, 2, ..., n.
Values countTo(int n) {
  Values values;
  for (int i = 1; i <= n; ++i) values.push_back(i);
  return values;
}

TEST(Statistics, EmptyMeansEmpty) {
  EXPECT_FALSE(mean(Values{}));
  EXPECT_FALSE(median(Values{}));
  EXPECT_FALSE(standardDeviation(Values{1}));
  EXPECT_FALSE(percentile(countTo(19), 95));
  EXPECT_FALSE(estimateMean(countTo(4)));
}

TEST(Statistics, MeanAndMedian) {
  EXPECT_DOUBLE_EQ(*mean(Values{1, 2, 6}), 3);
  EXPECT_DOUBLE_EQ(*median(Values{6, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(*median(Values{6, 1, 2, 4}), 3);
  EXPECT_DOUBLE_EQ(*median(Values{7}), 7);
}

TEST(Statistics, StandardDeviationOfASample) {
  EXPECT_DOUBLE_EQ(*standardDeviation(Values{2, 4, 4, 4, 5, 5, 7, 9}), std::sqrt(32.0 / 7));
}

TEST(Statistics, PercentileType7) {
  EXPECT_DOUBLE_EQ(*percentile(countTo(21), 95), 20);
  EXPECT_DOUBLE_EQ(*percentile(countTo(20), 95), 19.05);
  EXPECT_DOUBLE_EQ(*percentile(countTo(20), 0), 1);
  EXPECT_DOUBLE_EQ(*percentile(countTo(20), 100), 20);
}

TEST(Statistics, StudentsTIsThePublishedTable) {
  const std::vector<std::pair<int, double>> published{
      {1, 12.706205}, {2, 4.302653},  {3, 3.182446},  {4, 2.776445},   {5, 2.570582},   {6, 2.446912},
      {7, 2.364624},  {8, 2.306004},  {9, 2.262157},  {10, 2.228139},  {11, 2.200985},  {15, 2.131450},
      {20, 2.085963}, {30, 2.042272}, {60, 2.000298}, {120, 1.979930}, {1000, 1.962339}};
  for (const auto& [degrees, t] : published) EXPECT_NEAR(studentT(0.975, degrees), t, 1e-6) << degrees;
  EXPECT_NEAR(studentT(0.995, 9), 3.249836, 1e-6);
  EXPECT_NEAR(studentT(0.95, 1), 6.313752, 1e-6);
}

TEST(Statistics, WithoutResemblanceTheErrorIsTheUsualOne) {
  const Values values{3, 1, 4, 1, 5, 0, 6, 2};  // neighbours resemble each other less than chance
  const Estimate estimate = *estimateMean(values);
  EXPECT_DOUBLE_EQ(estimate.value, 2.75);
  EXPECT_NEAR(estimate.standardError, *standardDeviation(values) / std::sqrt(8), 1e-12);
  EXPECT_EQ(estimate.degrees, 7u);
  const Interval interval = intervalOf(estimate, 0.95);
  EXPECT_NEAR(interval.high - 2.75, studentT(0.975, 7) * estimate.standardError, 1e-12);
  EXPECT_NEAR(interval.low + interval.high, 5.5, 1e-12);
}

TEST(Statistics, TheDifferenceOfTwoEstimatesFollowsWelch) {
  const Estimate sum = difference({5, 3, 10}, {2, 4, 5});
  EXPECT_DOUBLE_EQ(sum.value, 3);
  EXPECT_DOUBLE_EQ(sum.standardError, 5);
  EXPECT_EQ(sum.degrees, 10u);  // 625 / (81 / 10 + 256 / 5) = 10.54
}

/// Share of `trials` series whose 95 % interval holds the true mean. Each value is `resemblance` times the one before
/// plus noise, and a lognormal of that.
double coverage(int trials, size_t length, double resemblance, double sigma) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  int held = 0;
  for (int trial = 0; trial < trials; ++trial) {
    Values series;
    double state = normal(random);
    for (size_t i = 0; i < length; ++i) {
      series.push_back(std::exp(sigma * state));
      state = resemblance * state + std::sqrt(1 - resemblance * resemblance) * normal(random);
    }
    const Interval interval = intervalOf(*estimateMean(series), 0.95);
    const double truth = std::exp(sigma * sigma / 2);
    held += interval.low <= truth && truth <= interval.high ? 1 : 0;
  }
  return static_cast<double>(held) / trials;
}

// The bounds that estimateMean() states. 4000 series: a share of 0.9 is known to 0.01.
TEST(Statistics, IntervalsHoldTheTruthAsOftenAsTheySay) {
  struct Row {
    size_t length;
    double resemblance, least;
  };
  for (const Row& row : {Row{200, 0, 0.93},
                         {200, 0.3, 0.93},
                         {200, 0.6, 0.93},
                         {45, 0, 0.93},
                         {45, 0.3, 0.91},
                         {45, 0.6, 0.91},
                         {20, 0, 0.93},
                         {20, 0.3, 0.91},
                         {20, 0.6, 0.87}}) {
    const double share = coverage(4000, row.length, row.resemblance, 0.1);
    EXPECT_GE(share, row.least) << row.length << " values, " << row.resemblance;
    EXPECT_LE(share, 0.97) << row.length << " values, " << row.resemblance;
  }
}

}  // namespace
}  // namespace tandem
