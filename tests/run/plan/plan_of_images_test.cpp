#include <gtest/gtest.h>

#include <filesystem>

#include "run/plan/plan.h"
#include "run/plan/plan_refusal.h"
#include "run/ten_images.h"
#include "run/tiny_config.h"
#include "support/example_records.h"

namespace tandem {
namespace {

TEST(PlanOfImages, APartHasWholePairsWhereImagesAreMixed) {
  auto config = tinyConfig();
  config.step.mixup = 0.2;
  config.step.batch = 12, config.step.accumulate = 4;
  EXPECT_NE(refusalOf(config).find("a replica's batch of 12 images cannot be cut into so many equal parts of whole "
                                   "pairs; take a multiple of 8"),
            std::string::npos);
  config.step.accumulate = 3;
  EXPECT_EQ(refusalOf(config), "");
  config.measurement.scaling = "strong";
  config.step.accumulate = 1, config.placement.replicas = 2, config.step.batch = 10;
  EXPECT_EQ(resolvePlan(config).shares, (std::vector<int64_t>{6, 4}));
  config.step.batch = 11;
  EXPECT_NE(refusalOf(config).find("the global batch of 11 images"), std::string::npos);
}

TEST(PlanOfImages, ABufferOfImagesNeedsShards) {
  auto config = tinyConfig();
  config.input.shuffleBuffer = 5;
  EXPECT_NE(refusalOf(config).find("--shuffle-buffer=5 is for shards, which are read from their beginning; give them"),
            std::string::npos);
}

TEST(PlanOfImages, ClassesAreCountedWhereLabelsAreApart) {
  auto config = tinyConfig();
  config.step.classWeights = Config::balanced;
  EXPECT_EQ(refusalOf(config), "");
  config.input.data = tenFiles();
  EXPECT_EQ(refusalOf(config), "");
  const auto folder = std::filesystem::path(testing::TempDir()) / "records_to_count";
  const std::string record = tfrecordOf(records::imageNetExample("no image", 1));
  writeBytes(folder / "train-00000-of-00001", {record.begin(), record.end()});
  config.input.data = folder.string();
  EXPECT_NE(refusalOf(config).find("labels of a data set 'tfrecord' lie in the records of its images"),
            std::string::npos)
      << refusalOf(config);
  config.step.classWeights = "weights.txt";
  EXPECT_EQ(refusalOf(config), "");
}

TEST(PlanOfImages, BoxesAreNotMixed) {
  auto config = tinyConfig();
  config.network.model = "ssd300";
  config.network.imageSize = 0, config.network.classes = 0;
  config.step.cutmix = 1;
  EXPECT_NE(refusalOf(config).find("--cutmix=1 with --model=ssd300: its labels are boxes"), std::string::npos)
      << refusalOf(config);
}

}  // namespace
}  // namespace tandem
