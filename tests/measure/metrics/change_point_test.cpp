#include "measure/metrics/change_point.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "measure/record_example.h"
#include "measure/validity/stationarity.h"

namespace tandem {
namespace {

/// Lognormal step times of relative deviation `spread` whose neighbours have correlation `r`, times level(i).
std::vector<double> noisy(unsigned seed, size_t count, double r, double spread,
                          const std::function<double(size_t)>& level) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values;
  double state = normal(random);
  for (size_t i = 0; i < count; ++i) {
    values.push_back(level(i) * std::exp(spread * state));
    state = r * state + std::sqrt(1 - r * r) * normal(random);
  }
  return values;
}

/// In how many of 200 such series a change of more than a tenth is seen.
int seenIn200(size_t count, double r, double spread, const std::function<double(size_t)>& level) {
  int seen = 0;
  for (unsigned seed = 0; seed < 200; ++seed) seen += changeIn(noisy(seed, count, r, spread, level), 0.1) ? 1 : 0;
  return seen;
}

double flat(size_t) { return 1; }

struct Case {
  const char* name;
  double (*level)(size_t);  // of step i of 100
  bool steady;
};

constexpr Case cases[] = {
    {"flat", flat, true},
    {"changed early", [](size_t i) { return i < 20 ? 1.3 : 1.0; }, false},
    {"changed in the middle", [](size_t i) { return i < 50 ? 1.0 : 1.2; }, false},
    {"changed late", [](size_t i) { return i < 85 ? 1.0 : 1.3; }, false},
    {"decay", [](size_t i) { return 1 + std::exp(-static_cast<double>(i) / 30); }, false},
    {"drift up", [](size_t i) { return 1 + 0.005 * static_cast<double>(i); }, false},
    {"drift down", [](size_t i) { return 2 - 0.01 * static_cast<double>(i); }, false},
    {"less than a tenth", [](size_t i) { return i < 50 ? 1.0 : 1.05; }, true},
    {"every fourth twice as long", [](size_t i) { return i % 4 == 3 ? 2.0 : 1.0; }, true},
    {"two levels by turns", [](size_t i) { return i % 2 == 0 ? 1.0 : 1.5; }, true},
    {"five slow steps", [](size_t i) { return i > 40 && i < 46 ? 10.0 : 1.0; }, true},
};

TEST(ChangePoint, SeesWhatTheTableInMeasuringSays) {
  for (const Case& row : cases) {
    const int seen = seenIn200(100, 0.3, 0.03, row.level);
    if (row.steady) {
      EXPECT_LE(seen, 2) << row.name;
    } else {
      EXPECT_GE(seen, 195) << row.name;
    }
    std::vector<double> exact;
    for (size_t i = 0; i < 100; ++i) exact.push_back(row.level(i));
    EXPECT_EQ(changeIn(exact, 0.1).has_value(), !row.steady) << row.name << ", without noise";
  }
}

TEST(ChangePoint, FindsWhereAndTheLevels) {
  const auto change = changeIn(noisy(1, 200, 0.3, 0.03, [](size_t i) { return i < 60 ? 0.1 : 0.13; }), 0.1);
  ASSERT_TRUE(change.has_value());
  EXPECT_NEAR(static_cast<double>(change->at), 60, 3);
  EXPECT_NEAR(change->before, 0.1, 0.003);
  EXPECT_NEAR(change->after, 0.13, 0.003);
}

TEST(ChangePoint, NoiseWhoseNeighboursResembleEachOtherIsNoChange) {
  for (const size_t count : {20, 50, 200, 1000}) {
    for (const double r : {0.0, 0.3, 0.6}) EXPECT_LE(seenIn200(count, r, 0.04, flat), 2) << count << ", " << r;
  }
  EXPECT_LE(seenIn200(200, 0.3, 0.1, flat), 2);
}

TEST(ChangePoint, TooFewStepsShowNone) {
  std::vector<double> series(19, 1.0);
  std::fill(series.begin() + 9, series.end(), 2.0);
  EXPECT_FALSE(changeIn(series, 0.1).has_value());
  series.push_back(2.0);
  EXPECT_TRUE(changeIn(series, 0.1).has_value());
  EXPECT_FALSE(changeIn({}, 0.1).has_value());
}

TEST(Steadiness, IsOfTheWarmUpAndOfTheWindow) {
  RunRecord record = exampleRecord(1, "replicated", 100);
  EXPECT_EQ(notSteadyBecause(record), "");
  record.steps.assign(40, StepSample{.replica = 0, .wall = std::chrono::milliseconds(100)});
  EXPECT_EQ(notSteadyBecause(record), "");
  for (size_t i = 24; i < 40; ++i) record.steps[i].wall = std::chrono::milliseconds(130);
  EXPECT_EQ(notSteadyBecause(record), "the step time went from 100.0 to 130.0 ms at step 25 of 40");
  record.warmup = {.steps = 200, .wall = {}, .steady = false};
  EXPECT_EQ(notSteadyBecause(record), "the step time had not settled after 200 warm-up steps");
  record.outcome.kind = OutcomeKind::failed;
  EXPECT_EQ(notSteadyBecause(record), "");
}

TEST(Steadiness, AGivenWarmUpMayBeTooShort) {
  RunRecord record = exampleRecord(1, "replicated", 100);
  record.steps.assign(10, StepSample{.replica = 0, .wall = std::chrono::milliseconds(100)});
  for (size_t i = 0; i < 3; ++i) record.steps[i].wall = std::chrono::milliseconds(150);
  EXPECT_EQ(notSteadyBecause(record), "") << "--warmup=auto has a rule of its own";
  record.config.measurement.warmup = "0";
  EXPECT_EQ(notSteadyBecause(record), "the first 3 steps took 150.0 ms, the others 100.0 ms: --warmup=0 is too short");
  for (size_t i = 0; i < 3; ++i) record.steps[i].wall = std::chrono::milliseconds(108);
  EXPECT_EQ(notSteadyBecause(record), "");
}

}  // namespace
}  // namespace tandem
