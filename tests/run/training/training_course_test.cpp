#include "run/training/training_course.h"

#include <gtest/gtest.h>

#include <vector>

namespace tandem {
namespace {

Config::Training training(double epochs, double validateEvery, double saveEvery) {
  Config::Training training;
  training.epochs = epochs, training.validateEvery = validateEvery, training.saveEvery = saveEvery;
  training.checkpoint = "folder";
  return training;
}

std::vector<int64_t> pausesOf(const TrainingCourse& course) {
  std::vector<int64_t> pauses;
  for (int64_t step = 0; step < course.steps();) pauses.push_back(step = course.nextPause(step));
  return pauses;
}

TEST(TrainingCourse, AnEpochEndsWithTheUpdateThatHoldsItsLastImage) {
  const TrainingCourse course(training(3, 1, 1), /*images=*/10, /*batch=*/4);
  EXPECT_EQ(course.steps(), 8) << "30 images in batches of 4";
  EXPECT_EQ(pausesOf(course), (std::vector<int64_t>{3, 5, 8})) << "images 10, 20 and 30";
  EXPECT_DOUBLE_EQ(course.epochsAt(5), 2.0);
  EXPECT_DOUBLE_EQ(course.epochsAt(8), 3.0) << "the last batch goes beyond the end, the training does not";
}

TEST(TrainingCourse, PartsOfAnEpochAddUp) {
  const TrainingCourse course(training(1, 0.1, 0), /*images=*/60'000, /*batch=*/100);
  EXPECT_EQ(course.steps(), 600);
  const auto pauses = pausesOf(course);
  ASSERT_EQ(pauses.size(), 10U);
  EXPECT_EQ(pauses.back(), 600);
  for (size_t i = 0; i < pauses.size(); ++i) EXPECT_EQ(pauses[i], 60 * (static_cast<int64_t>(i) + 1));
}

TEST(TrainingCourse, EvaluatesAndSavesEachAtItsOwnTimes) {
  const TrainingCourse course(training(4, 2, 3), /*images=*/8, /*batch=*/4);
  EXPECT_EQ(pausesOf(course), (std::vector<int64_t>{4, 6, 8}));
  EXPECT_TRUE(course.evaluatesAt(4) && !course.savesAt(4));
  EXPECT_TRUE(course.savesAt(6) && !course.evaluatesAt(6));
  EXPECT_TRUE(course.evaluatesAt(8) && course.savesAt(8)) << "both at the end";
  EXPECT_FALSE(course.evaluatesAt(0));
}

TEST(TrainingCourse, WithoutTimesItPausesAtTheEndAlone) {
  const TrainingCourse course(training(5, 0, 0), /*images=*/7, /*batch=*/7);
  EXPECT_EQ(pausesOf(course), std::vector<int64_t>{5});
}

TEST(TrainingCourse, APartSmallerThanABatchIsOneUpdate) {
  const TrainingCourse course(training(0.01, 0.001, 0), /*images=*/100, /*batch=*/64);
  EXPECT_EQ(course.steps(), 1);
  EXPECT_EQ(pausesOf(course), std::vector<int64_t>{1});
}

TEST(TrainingCourse, BatchesLargerThanTheDataSetPauseAtEachUpdate) {
  const TrainingCourse course(training(6, 1, 1), /*images=*/10, /*batch=*/25);
  EXPECT_EQ(course.steps(), 3) << "60 images in batches of 25";
  EXPECT_EQ(pausesOf(course), (std::vector<int64_t>{1, 2, 3}));
}

}  // namespace
}  // namespace tandem
