// --train-size.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/text.h"
#include "run/training/tiny_training.h"

namespace tandem {
namespace {

using TrainSize = TinyTraining;

TEST_F(TrainSize, ImagesGrow) {
  Config growing = config(3), small = config(1), usual = config(1);
  for (Config* each : {&growing, &small, &usual}) {
    each->network.model = "resnet20", each->input.augment = "random_resized_crop+flip";
    each->numerics.executor = "autograd";  // whose kernels are the same for each size
  }
  growing.training.trainSize = "16+24@1+32@2.5", small.network.imageSize = 16;
  small.training.validateOn = Config::noSplit;  // images of 28 pixels are not evaluated at 16; growing ones are, at 32
  const RunRecord record = run(growing), ofSmall = run(small), ofUsual = run(usual);
  ASSERT_TRUE(record.training && ofSmall.training && ofUsual.training)
      << record.outcome.reason << ofSmall.outcome.reason << ofUsual.outcome.reason;
  std::vector<std::pair<int64_t, int64_t>> sizes;
  for (const EpochRecord& part : record.training->course) sizes.emplace_back(part.step, part.imageSize);
  EXPECT_EQ(sizes, (std::vector<std::pair<int64_t, int64_t>>{{10, 16}, {20, 24}, {25, 24}, {30, 32}}));
  EXPECT_EQ(ofUsual.training->course.back().imageSize, 32);
  for (size_t i = 0; i < 10; ++i)
    EXPECT_EQ(record.losses[i], ofSmall.losses[i]) << i << ": the same images and weights";
  EXPECT_NE(record.losses[0], ofUsual.losses[0]);
  EXPECT_EQ(record.training->evaluations.size(), 3U) << "another size is no reason to evaluate";
  EXPECT_EQ(record.measuredSteps, 5) << "those of the last size";
  EXPECT_EQ(record.placement.forwardFlopsPerImage, ofUsual.placement.forwardFlopsPerImage);
  growing.training.trainSize = "16";
  EXPECT_EQ(run(growing).placement.forwardFlopsPerImage, ofSmall.placement.forwardFlopsPerImage);
}

TEST_F(TrainSize, SyntheticImagesHaveTheirSizeToo) {
  Config config = this->config(1);
  config.input.data.clear();
  config.network.model = "resnet20", config.training.trainSize = "16", config.training.epochs = 0.02;
  const RunRecord record = run(config);
  ASSERT_TRUE(record.training) << record.outcome.reason;
  EXPECT_EQ(record.training->course.back().imageSize, 16);
}

TEST_F(TrainSize, IsRefusedWhereTheNetworkOrTheImagesHaveAnother) {
  EXPECT_NE(reasonOf([](Config& config) {
              config.training.trainSize = "32+64@1";
            }).find("--train-size=32+64@1: at 64 pixels: it is more than --image-size=32"),
            std::string::npos);
  const std::string fixed =
      reasonOf([](Config& config) { config.training.trainSize = "24", config.input.augment = "random_resized_crop"; });
  EXPECT_NE(fixed.find("--train-size=24: at 24 pixels: --model=trivial is made for one image size"), std::string::npos)
      << fixed;
  const std::string tooSmall = reasonOf([](Config& config) {
    config.training.trainSize = "16", config.network.model = "resnet20", config.input.augment = "standard";
  });
  EXPECT_NE(tooSmall.find("--train-size=16: at 16 pixels: --data="), std::string::npos) << tooSmall;
}

}  // namespace
}  // namespace tandem
