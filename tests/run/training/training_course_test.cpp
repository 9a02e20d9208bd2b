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

TEST(TrainingCourse, ImagesHaveTheirSizeFromAnEpochOn) {
  Config::Training sized = training(3, 0, 0);
  sized.trainSize = "16+24@1.5+32@2";
  const TrainingCourse course(sized, /*images=*/10, /*batch=*/4);
  std::vector<int64_t> sizes;
  for (int64_t step = 0; step < course.steps(); ++step) sizes.push_back(course.trainSizeAt(step));
  EXPECT_EQ(sizes, (std::vector<int64_t>{16, 16, 16, 16, 24, 32, 32, 32})) << "15 images in 4 updates, 20 in 5";
  EXPECT_EQ(pausesOf(course), (std::vector<int64_t>{4, 5, 8}));
  EXPECT_FALSE(course.evaluatesAt(4)) << "another size alone evaluates and saves nothing";
  EXPECT_FALSE(course.savesAt(5));
  sized.trainSize = "16+24@5";
  EXPECT_EQ(pausesOf(TrainingCourse(sized, 10, 4)), std::vector<int64_t>{8}) << "beyond the end";
  EXPECT_EQ(TrainingCourse(training(3, 0, 0), 10, 4).trainSizeAt(0), 0);
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
