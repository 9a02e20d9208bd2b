#include "config/split.h"

#include <gtest/gtest.h>

#include <numeric>

namespace tandem {
namespace {

using Shares = std::vector<int64_t>;

Shares shares(int64_t sum, const std::vector<double>& weights) { return apportioned(sum, weights); }

TEST(Split, IsEqualOrMeasuredOrARatio) {
  EXPECT_EQ(parseSplit("equal"), Split{});
  EXPECT_EQ(parseSplit("measured"), Split{.measured = true});
  EXPECT_EQ(parseSplit("3:1:0.5"), (Split{.weights = {3, 1, 0.5}}));
  for (const char* text : {"", "3:", ":", "3:0", "3:-1", "3:inf", "3:nan", "3;1", "3:1x"}) {
    EXPECT_FALSE(parseSplit(text)) << text;
  }
}

TEST(Apportioned, HasTheRatioAsNearlyAsWholeNumbersCan) {
  EXPECT_EQ(shares(64, {1, 1, 1, 1, 1, 1}), (Shares{11, 11, 11, 11, 10, 10}));
  EXPECT_EQ(shares(16, {3, 1}), (Shares{12, 4}));
  EXPECT_EQ(shares(10, {1, 2, 3}), (Shares{2, 3, 5}));  // quotas 1.67, 3.33, 5
}

TEST(Apportioned, NobodyGetsNothing) {
  EXPECT_EQ(shares(4, {1000, 1, 1}), (Shares{2, 1, 1}));
  EXPECT_EQ(shares(3, {1000, 1, 1}), (Shares{1, 1, 1}));
}

TEST(Apportioned, SumsAreKept) {
  for (int64_t sum = 5; sum < 300; ++sum) {
    const Shares found = shares(sum, {0.1, 7, 3.3, 1e-9, 42});
    EXPECT_EQ(std::accumulate(found.begin(), found.end(), int64_t{0}), sum);
    for (const int64_t share : found) EXPECT_GE(share, 1);
  }
}

}  // namespace
}  // namespace tandem
