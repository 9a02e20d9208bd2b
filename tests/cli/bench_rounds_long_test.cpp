#include <gtest/gtest.h>

#include "cli/simulated_sweep.h"

namespace tandem {
namespace {

// Runs of one configuration differed by 5 to 13 % where Tandem was measured on machines in use.
TEST(LongBenchRounds, OfTenThousandSweepsOfEqualPointsAtMostTwoHundredAreWrong) {
  const int64_t wrong = wrongOf(10'000, {0.05, 0.13}, {1, 1});
  EXPECT_LE(wrong, 200);
  EXPECT_GE(wrong, 20) << "at 1 % some must be wrong; is the rule far too strict?";
}

TEST(LongBenchRounds, OfSixtySweepsFiftySevenFindFivePercent) { EXPECT_GE(foundOf(600, 0.02, 0.95), 570); }

TEST(LongBenchRounds, OfFourEqualPointsNoneIsLostInNinetyEightOfAHundredSweeps) {
  EXPECT_LE(wrongOf(1'000, {0.05, 0.13}, {1, 1, 1, 1}), 20);
}

}  // namespace
}  // namespace tandem
