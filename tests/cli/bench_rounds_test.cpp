#include "cli/bench_rounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/simulated_sweep.h"
#include "config/repeats.h"

namespace tandem {
namespace {

TEST(BenchRounds, ANumberOfRepeatsIsKept) {
  SimulatedSweep sweep({.points = 3, .repeats = 4, .budgetSeconds = 0, .seed = 1});
  sweep.run([](size_t point) { return runOf(point, 100); });
  for (size_t point = 0; point < 3; ++point) EXPECT_EQ(sweep.runsOf(point), 4);
  EXPECT_EQ(sweep.rounds.ending(), "");
  SimulatedSweep once({.points = 3, .repeats = 1, .budgetSeconds = 0, .seed = 1});
  EXPECT_EQ(once.next(), (std::vector<size_t>{0, 1, 2})) << "one round keeps the order";
}

TEST(BenchRounds, EachRoundButTheFirstIsShuffled) {
  SimulatedSweep sweep({.points = 8, .repeats = 2, .budgetSeconds = 0, .seed = 1});
  auto first = sweep.next(), second = sweep.next();
  EXPECT_TRUE(std::ranges::is_sorted(first));
  EXPECT_NE(first, second);
  std::ranges::sort(first);
  std::ranges::sort(second);
  EXPECT_EQ(first, second);
}

TEST(BenchRounds, WhatIsToldApartIsMeasuredNoMore) {
  SimulatedSweep sweep(automatic(3));
  int64_t runs = 0;
  sweep.run(
      [&](size_t point) { return runOf(point, (point == 1 ? 50.0 : 100.0) + 0.5 * static_cast<double>(++runs % 7)); });
  EXPECT_EQ(sweep.runsOf(1), 3);
  EXPECT_EQ(sweep.runsOf(0), mostAutoRounds);
  EXPECT_EQ(sweep.rounds.ending(), "not told apart after 16 rounds, the most");
}

TEST(BenchRounds, EndsWhenOneLeads) {
  SimulatedSweep sweep(automatic(2));
  sweep.run([&](size_t point) { return runOf(point, point == 0 ? 100 : 80); });
  EXPECT_EQ(sweep.records.size(), 6u);
  EXPECT_EQ(sweep.rounds.ending(), "told apart after 3 rounds");
}

TEST(BenchRounds, EndsWhenTheBudgetsAreSpent) {
  SimulatedSweep sweep(automatic(2, 8));
  const std::array noise{0.0, 3.0, 3.0, 1.0, 2.0, 4.0, 0.0, 2.0};
  size_t runs = 0;
  sweep.run([&](size_t point) { return runOf(point, 100 + noise[runs++ % noise.size()]); });
  EXPECT_GE(measuredSeconds(sweep.records), 8);
  EXPECT_LT(sweep.rounds.round(), mostAutoRounds);
  EXPECT_EQ(sweep.rounds.ending(),
            concat("not told apart after ", sweep.rounds.round(), " rounds, when the budgets were spent"));
}

TEST(BenchRounds, APointThatFailedIsMeasuredNoMore) {
  SimulatedSweep sweep(automatic(2));
  sweep.run([&](size_t point) {
    RunRecord record = runOf(point, 100);
    if (point == 1) record.outcome = {OutcomeKind::failed, ExitCode::numeric, "loss is NaN"};
    return record;
  });
  EXPECT_EQ(sweep.runsOf(0), 3);
  EXPECT_EQ(sweep.runsOf(1), 1);
}

/// As long as a point was disturbed each time, nothing is decided: it is measured with the leader.
TEST(BenchRounds, ADisturbedPointIsMeasuredOnBesideTheLeader) {
  SimulatedSweep sweep(automatic(2));
  sweep.run([&](size_t point) {
    RunRecord record = runOf(point, point == 0 ? 100 : 60);
    if (point == 1 && sweep.runsOf(1) < 5)
      record.interference.reasons = {"other programs used the run's CPUs for 50 %"};
    return record;
  });
  EXPECT_EQ(sweep.runsOf(1), 7) << "two undisturbed runs compare it";
  EXPECT_EQ(sweep.runsOf(0), 7);
  EXPECT_EQ(sweep.rounds.ending(), "told apart after 7 rounds");
}

TEST(BenchRounds, OfEqualPointsNoneIsAheadInNinetyEightOfAHundredSweeps) {
  const int64_t wrong = wrongOf(300, {0.08, 0.08}, {1, 1});  // bench_rounds_long_test.cpp makes 10,000
  EXPECT_LE(wrong, 6);
  EXPECT_GE(wrong, 1) << "at 1 % some must be wrong; is the rule far too strict?";
}

TEST(BenchRounds, FivePercentAreFound) { EXPECT_GE(foundOf(100, 0.02, 0.95), 95); }

}  // namespace
}  // namespace tandem
