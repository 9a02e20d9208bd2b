#include <gtest/gtest.h>

#include "base/catalog.h"
#include "optim/optimizer.h"

namespace tandem {
namespace {

double factor(const char* name, int64_t step, int64_t total) {
  return find(schedules(), name, "schedule").factor(step, total);
}

TEST(Schedule, constantIsOne) { EXPECT_EQ(factor("constant", 123, 0), 1.0); }

TEST(Schedule, cosineGoesFromOneToZero) {
  EXPECT_DOUBLE_EQ(factor("cosine", 0, 100), 1.0);
  EXPECT_NEAR(factor("cosine", 50, 100), 0.5, 1e-12);
  EXPECT_NEAR(factor("cosine", 100, 100), 0.0, 1e-12);
  EXPECT_NEAR(factor("cosine", 250, 100), 0.0, 1e-12) << "beyond the end it stays zero";
}

TEST(Schedule, warmupRisesOverFivePercentThenFalls) {
  EXPECT_DOUBLE_EQ(factor("warmup-cosine", 0, 100), 0.2);
  EXPECT_DOUBLE_EQ(factor("warmup-cosine", 4, 100), 1.0);
  EXPECT_DOUBLE_EQ(factor("warmup-cosine", 5, 100), 1.0);
  EXPECT_LT(factor("warmup-cosine", 60, 100), factor("warmup-cosine", 50, 100));
}

TEST(Schedule, BeginsWhereItIsToldAndStaysAtItsFirstValueUntilThen) {
  const auto begin = std::make_shared<ScheduleBegin>();
  OptimizerOptions options{.learningRate = 0.5,
                           .schedule = &find(schedules(), "cosine", "schedule"),
                           .totalSteps = 4,
                           .scheduleBegin = begin};
  EXPECT_DOUBLE_EQ(options.rateAt(0), 0.5);
  EXPECT_DOUBLE_EQ(options.rateAt(1000), 0.5) << "nobody knows yet where warm-up ends";
  begin->set(3);
  for (const int64_t update : {0, 2, 3}) EXPECT_DOUBLE_EQ(options.rateAt(update), 0.5) << update;
  EXPECT_NEAR(options.rateAt(5), 0.25, 1e-12);
  EXPECT_NEAR(options.rateAt(7), 0, 1e-12);
  options.scheduleBegin = nullptr;
  EXPECT_NEAR(options.rateAt(2), 0.25, 1e-12) << "it begins with the first update";
  options.updatesPerStep = 3;
  EXPECT_DOUBLE_EQ(options.rateAt(2), 0.5) << "a step has three updates";
  EXPECT_NEAR(options.rateAt(8), 0.25, 1e-12);
}

TEST(Schedule, factorsStayWithinZeroAndOne) {
  for (const ScheduleEntry& schedule : schedules()) {
    for (int64_t step = 0; step < 300; ++step) {
      const double value = schedule.factor(step, 200);
      EXPECT_GE(value, 0) << schedule.name << " at " << step;
      EXPECT_LE(value, 1) << schedule.name << " at " << step;
    }
  }
}

}  // namespace
}  // namespace tandem
