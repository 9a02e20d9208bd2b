#include "base/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
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
  EXPECT_FALSE(meanInterval95(countTo(4)));
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

/// Half the width of the interval, divided by the standard error.
double quantileUsed(int n) {
  const Values values = countTo(n);
  const Interval interval = *meanInterval95(values);
  EXPECT_NEAR(interval.low + interval.high, 2 * *mean(values), 1e-9);
  return (interval.high - interval.low) / 2 / (*standardDeviation(values) / std::sqrt(n));
}

TEST(Statistics, IntervalUsesStudentsT) {
  const std::vector<std::pair<int, double>> published{{4, 2.776445},   {5, 2.570582},   {6, 2.446912},  {7, 2.364624},
                                                      {8, 2.306004},   {9, 2.262157},   {10, 2.228139}, {11, 2.200985},
                                                      {15, 2.131450},  {20, 2.085963},  {30, 2.042272}, {60, 2.000298},
                                                      {120, 1.979930}, {1000, 1.962339}};
  for (const auto& [degrees, t] : published) EXPECT_NEAR(quantileUsed(degrees + 1), t, 1e-5) << degrees;
}

}  // namespace
}  // namespace tandem
