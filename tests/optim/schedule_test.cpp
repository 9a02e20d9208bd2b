#include "optim/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/catalog.h"
#include "optim/optimizer.h"
#include "optim/plateau.h"

namespace tandem {
namespace {

const ScheduleEntry& row(const char* name) { return find(schedules(), name, "schedule"); }

double factor(const char* name, int64_t step, const RateCourse& course) { return factorAt(row(name), course, step); }

double factor(const char* name, int64_t step, int64_t total) { return factor(name, step, {.totalSteps = total}); }

TEST(Schedule, constantIsOne) { EXPECT_EQ(factor("constant", 123, 0), 1.0); }

TEST(Schedule, cosineGoesFromOneToItsEnd) {
  EXPECT_DOUBLE_EQ(factor("cosine", 0, 100), 1.0);
  EXPECT_NEAR(factor("cosine", 50, 100), 0.5, 1e-12);
  EXPECT_NEAR(factor("cosine", 100, 100), 0.0, 1e-12);
  EXPECT_NEAR(factor("cosine", 250, 100), 0.0, 1e-12) << "beyond the end it stays zero";
  const RateCourse course{.totalSteps = 100, .end = 0.2};
  EXPECT_NEAR(factor("cosine", 50, course), 0.6, 1e-12);
  EXPECT_NEAR(factor("cosine", 100, course), 0.2, 1e-12);
}

TEST(Schedule, warmupRisesOverFivePercentThenFalls) {
  EXPECT_DOUBLE_EQ(factor("warmup-cosine", 0, 100), 0.2);
  EXPECT_DOUBLE_EQ(factor("warmup-cosine", 4, 100), 1.0);
  EXPECT_DOUBLE_EQ(factor("warmup-cosine", 5, 100), 1.0);
  EXPECT_LT(factor("warmup-cosine", 60, 100), factor("warmup-cosine", 50, 100));
}

// Of epochs that are no whole number of steps, a fall is at the first step behind its epoch.
TEST(Schedule, piecewiseFallsAtEpochs) {
  const RateCourse course{.totalSteps = 40, .stepsPerEpoch = 2.5, .fallsAt = {2, 3, 6}, .fallFactor = 0.5};
  for (const auto& [step, expected] :
       {std::pair{0, 1.0}, {4, 1.0}, {5, 0.5}, {7, 0.5}, {8, 0.25}, {14, 0.25}, {15, 0.125}, {400, 0.125}}) {
    EXPECT_DOUBLE_EQ(factor("piecewise", step, course), expected) << step;
  }
  for (const int64_t images : {50'000, 60'000, 1'281'167}) {
    const RateCourse odd{.stepsPerEpoch = static_cast<double>(images) / 7, .fallsAt = {7 * 30}, .fallFactor = 0.1};
    EXPECT_DOUBLE_EQ(factor("piecewise", 30 * images, odd), 0.1) << images;
    EXPECT_DOUBLE_EQ(factor("piecewise", 30 * images - 1, odd), 1) << images;
  }
}

TEST(Schedule, polynomialFallsToItsEnd) {
  const RateCourse line{.totalSteps = 10}, square{.totalSteps = 10, .power = 2, .end = 0.1};
  EXPECT_DOUBLE_EQ(factor("polynomial", 3, line), 0.7);
  EXPECT_DOUBLE_EQ(factor("polynomial", 0, square), 1);
  EXPECT_DOUBLE_EQ(factor("polynomial", 5, square), 0.1 + 0.9 * 0.25);
  EXPECT_DOUBLE_EQ(factor("polynomial", 20, square), 0.1);
}

TEST(Schedule, aWarmUpPrecedesWhateverFollows) {
  RateCourse course{.totalSteps = 30, .stepsPerEpoch = 5, .warmupEpochs = 2, .warmupFrom = 0.2};
  for (const ScheduleEntry& schedule : schedules()) {
    const double first = factorAt(schedule, course, 10);
    for (int64_t step = 0; step < 10; ++step) {
      const double share = 0.2 + 0.8 * static_cast<double>(step) / 10;
      EXPECT_NEAR(factorAt(schedule, course, step), share * first, 1e-12) << schedule.name << " at " << step;
    }
  }
  EXPECT_NEAR(factor("cosine", 20, course), 0.5, 1e-12) << "half of the steps behind the warm-up";
  EXPECT_NEAR(factor("polynomial", 25, course), 0.25, 1e-12);
  course.fallsAt = {4};
  EXPECT_DOUBLE_EQ(factor("piecewise", 19, course), 1) << "its epochs are those of the training";
  EXPECT_DOUBLE_EQ(factor("piecewise", 20, course), 0.1);
}

TEST(Schedule, BeginsWhereItIsToldAndStaysAtItsFirstValueUntilThen) {
  const auto begin = std::make_shared<ScheduleBegin>();
  OptimizerOptions options{
      .learningRate = 0.5, .schedule = &row("cosine"), .course = {.totalSteps = 4}, .scheduleBegin = begin};
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

TEST(Schedule, AFactorFromOutsideMultipliesTheRate) {
  const auto outside = std::make_shared<RateFactor>();
  const OptimizerOptions options{
      .learningRate = 0.5, .schedule = &row("cosine"), .course = {.totalSteps = 4}, .rateFactor = outside};
  EXPECT_DOUBLE_EQ(options.rateAt(0), 0.5);
  outside->set(0.1);
  EXPECT_DOUBLE_EQ(options.rateAt(0), 0.05);
  EXPECT_NEAR(options.rateAt(2), 0.025, 1e-12);
}

TEST(Schedule, factorsStayWithinZeroAndOne) {
  const RateCourse course{
      .totalSteps = 200, .stepsPerEpoch = 10.5, .warmupEpochs = 1, .fallsAt = {3, 9}, .power = 0.5, .end = 0.01};
  for (const ScheduleEntry& schedule : schedules()) {
    for (int64_t step = 0; step < 300; ++step) {
      for (const double value : {factorAt(schedule, {.totalSteps = 200}, step), factorAt(schedule, course, step)}) {
        EXPECT_GE(value, 0) << schedule.name << " at " << step;
        EXPECT_LE(value, 1) << schedule.name << " at " << step;
      }
    }
  }
}

// A course of one or two steps has no place for all its parts.
TEST(Schedule, shortCoursesHaveFiniteFactors) {
  for (const ScheduleEntry& schedule : schedules()) {
    for (int64_t total = 1; total < 8; ++total) {
      for (int64_t step = 0; step < total + 2; ++step) {
        EXPECT_TRUE(std::isfinite(factor(schedule.name.data(), step, total))) << schedule.name << ' ' << total;
      }
    }
  }
}

// The rates of torch.optim.lr_scheduler.OneCycleLR of PyTorch 2.11.0, max_lr=1, of 20 steps.
TEST(Schedule, oneCycleIsThatOfPyTorch) {
  constexpr double rates[] = {
      0.04,           0.1316718427,   0.3716718427,   0.6683281573,    0.9083281573,    1,        0.987464006235,
      0.950484632013, 0.890916177571, 0.81174565395,  0.716943001791,  0.611262021936,  0.500002, 0.388741978064,
      0.283060998209, 0.18825834605,  0.109087822429, 0.0495193679865, 0.0125399937649, 4e-06};
  for (int64_t step = 0; step < std::ssize(rates); ++step) {
    EXPECT_NEAR(factor("one-cycle", step, 20), rates[step], 1e-9) << step;
  }
  EXPECT_NEAR(factor("one-cycle", 19, {.totalSteps = 20, .end = 0.3}), 0.3, 1e-12);
  EXPECT_NEAR(factor("one-cycle", 0, {.totalSteps = 20, .end = 0.3}), 0.04, 1e-12);
}

// The rates behind each loss of torch.optim.lr_scheduler.ReduceLROnPlateau of PyTorch 2.11.0, patience=2, factor=0.5.
TEST(Plateau, IsThatOfPyTorch) {
  constexpr double losses[] = {3,   2,   1.9999, 1.9997, 1.9, 2,   2,   2,   1.5, 1.49999,
                               1.6, 1.7, 1.4,    1.5,    1.6, 1.7, 1.8, 1.9, 2.0, 0.5};
  constexpr double rates[] = {1.0, 1.0,  1.0,  1.0,  1.0,  1.0,   1.0,   0.5,   0.5,    0.5,
                              0.5, 0.25, 0.25, 0.25, 0.25, 0.125, 0.125, 0.125, 0.0625, 0.0625};
  Plateau plateau(2, 0.5);
  for (size_t i = 0; i < std::size(losses); ++i) {
    EXPECT_EQ(plateau.after(losses[i]), rates[i]) << "loss " << i;
    Plateau resumed(2, 0.5);
    resumed.restore(plateau.state());
    plateau = resumed;
  }
}

TEST(Plateau, ALossThatIsNoNumberIsNotBetter) {
  Plateau plateau(0, 0.5);
  EXPECT_EQ(plateau.after(std::nan("")), 0.5);
  EXPECT_EQ(plateau.after(3), 0.5) << "the first that is one";
  EXPECT_EQ(plateau.after(std::nan("")), 0.25);
  EXPECT_EQ(plateau.after(2), 0.25);
}

}  // namespace
}  // namespace tandem
