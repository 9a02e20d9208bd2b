#include "measure/validity/warmup_rule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace tandem {
namespace {

constexpr int64_t never = -1;

/// Steps after which warm-up ends when step i takes stepAt(i), tried after every step up to `limit`.
int64_t stepsUntilSteady(const std::function<double(int64_t)>& stepAt, int64_t limit = 200) {
  std::vector<double> steps;
  while (static_cast<int64_t>(steps.size()) < limit) {
    steps.push_back(stepAt(static_cast<int64_t>(steps.size())));
    if (isSteady(steps, WarmupRule())) return static_cast<int64_t>(steps.size());
  }
  return never;
}

TEST(SteadyState, FlatIsSteadyAfterTwoWindows) {
  EXPECT_EQ(stepsUntilSteady([](int64_t) { return 0.1; }), 6);
}

TEST(SteadyState, OneSlowFirstStepIsOutvoted) {
  EXPECT_EQ(stepsUntilSteady([](int64_t i) { return i == 0 ? 5.0 : 0.1; }), 6);
}

TEST(SteadyState, DecayIsSteadyOnceItHasFlattened) {
  const auto decay = [](int64_t i) { return 1 + 2 * std::exp(-static_cast<double>(i) / 4); };
  const int64_t steps = stepsUntilSteady(decay);
  ASSERT_NE(steps, never);
  EXPECT_GT(decay(steps - 8), 1.05);
  EXPECT_LT(decay(steps - 1), 1.10);
}

TEST(SteadyState, AStepUpThatStaysIsNotSteady) {
  EXPECT_EQ(stepsUntilSteady([](int64_t i) { return i < 4 ? 1.0 : 1.3; }), never);
}

TEST(SteadyState, AStepDownIsSteadyAgainAfterwards) {
  EXPECT_EQ(stepsUntilSteady([](int64_t i) { return i < 4 ? 1.3 : 1.0; }), 9);
}

TEST(SteadyState, ALateChangeAfterTheVerdictIsNotTheRulesConcern) {
  EXPECT_EQ(stepsUntilSteady([](int64_t i) { return i < 20 ? 1.0 : 1.3; }), 6);
}

TEST(SteadyState, DriftOfTwoPercentAStepIsNotSteady) {
  EXPECT_EQ(stepsUntilSteady([](int64_t i) { return std::pow(1.02, static_cast<double>(i)); }), never);
  EXPECT_EQ(stepsUntilSteady([](int64_t i) { return std::pow(0.98, static_cast<double>(i)); }), never);
}

TEST(SteadyState, BimodalStepsAreNotSteady) {
  EXPECT_EQ(stepsUntilSteady([](int64_t i) { return i % 2 == 0 ? 1.0 : 1.5; }), never);
}

TEST(SteadyState, ACycleWithRareSlowStepsIsSteady) {
  EXPECT_EQ(stepsUntilSteady([](int64_t i) { return i % 4 == 3 ? 2.0 : 1.0; }), 6);
}

TEST(SteadyState, NoiseOfSevenPercentIsSteadySoon) {
  int64_t late = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::minstd_rand random(seed + 1);
    const auto noisy = [&](int64_t) { return 1 + 0.07 * (2.0 * random() / std::minstd_rand::max() - 1); };
    if (const int64_t steps = stepsUntilSteady(noisy, 30); steps == never) ++late;
  }
  EXPECT_LE(late, 1);
}

TEST(SteadyState, TooFewStepsAreNeverSteady) {
  const std::vector<double> five(5, 1.0);
  EXPECT_FALSE(isSteady(five, WarmupRule()));
  EXPECT_FALSE(isSteady({}, WarmupRule()));
}

}  // namespace
}  // namespace tandem
