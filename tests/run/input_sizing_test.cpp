#include "run/input_sizing.h"

#include <gtest/gtest.h>

#include "run/ten_images.h"
#include "run/tiny_config.h"
#include "support/contains.h"

namespace tandem {
namespace {

InputWay way(const std::string& name, double one, double all) {
  return {.name = name, .one = {.imagesPerSecond = one}, .all = {.imagesPerSecond = all}};
}

InputWay own(double one, double all) {
  InputWay made = way("--decode=exact", one, all);
  made.ofConfig = true;
  return made;
}

constexpr InputDemand gpus{.imagesPerSecond = 2000, .devices = 2, .cores = 16},
    cores{.imagesPerSecond = 300, .devices = 1, .cores = 2, .sharesCores = true};

TEST(InputSizing, GpusTakeWhatTheProducersMakeUpToTheirOwnRate) {
  const InputWay images = own(200, 3000);
  EXPECT_DOUBLE_EQ(reachedRate(gpus, images, 1), 400) << "two producers";
  EXPECT_DOUBLE_EQ(reachedRate(gpus, images, 5), 2000) << "ten";
  EXPECT_EQ(bestProducers(gpus, images), 5);
  EXPECT_DOUBLE_EQ(coresPerDevice(gpus, images), 5);
  EXPECT_DOUBLE_EQ(reachedRate(gpus, own(100, 1500), 8), 1500) << "what 16 cores make together";
  EXPECT_DOUBLE_EQ(reachedRate(gpus, own(100, 1500), 100), 1500) << "there are no more cores";
  EXPECT_DOUBLE_EQ(reachedRate(gpus, own(100, 900), 7), 900) << "14 cores make no more than all";
}

TEST(InputSizing, OnACpuAnImageTakesTheTimeOfTheNetworkAndOfItsLoading) {
  const InputWay images = own(400, 600);
  EXPECT_DOUBLE_EQ(reachedRate(cores, images, inTheStep), 200) << "1 / (1 / 300 + 1 / 600): by all cores";
  EXPECT_DOUBLE_EQ(reachedRate(cores, images, 1), 1 / (1 / 300.0 + 1 / 400.0)) << "the other core waits";
  EXPECT_EQ(bestProducers(cores, images), inTheStep);
  const InputWay slow = own(10, 20);
  EXPECT_DOUBLE_EQ(reachedRate(cores, slow, 1), 1 / (1 / 300.0 + 1 / 10.0));
  EXPECT_DOUBLE_EQ(reachedRate(cores, slow, 2), 1 / (2 / 300.0 + 1 / 20.0)) << "mostly the replica waits";
  InputDemand two = cores;
  two.devices = 2;
  EXPECT_DOUBLE_EQ(reachedRate(two, images, 1), 200) << "each on a core of its own, nobody waits";
  EXPECT_EQ(bestProducers(two, images), 1);
  EXPECT_EQ(bestProducers(cores, own(1e6, 1e6)), 1) << "what takes no time is made ahead, as usual";
}

TEST(InputSizing, TheAdviceNamesWhatGivesMore) {
  InputWay packed = way("packed pixels", 2000, 20000);
  packed.command = "tandem data convert A TO", packed.bytes = 1024.0 * 1024 * 1024;
  InputSizing sizing{.demand = gpus, .images = 1000, .memoryBytes = int64_t{2} << 30};
  sizing.ways = {own(200, 1500), way("--decode=fast", 202, 1510), packed};
  EXPECT_EQ(adviceText(sizing),
            "loading limits training to 400 of the 2000 images/s that the devices take; --producers=4 would give 1500; "
            "--decode=fast with --producers=4 would give 1510; packed pixels would give 2000 ('tandem data convert A "
            "TO', 1 GiB)");
  sizing.producers = 8;
  EXPECT_EQ(adviceText(sizing),
            "loading limits training to 1500 of the 2000 images/s that the devices take; packed pixels would give 2000 "
            "('tandem data convert A TO', 1 GiB)");
  sizing.memoryBytes = 1 << 20;
  EXPECT_TRUE(contains(adviceText(sizing), "1 GiB, more than memory has free)")) << adviceText(sizing);
  sizing.ways.pop_back();
  EXPECT_TRUE(contains(adviceText(sizing), "; nothing that was measured would give 5 % more")) << adviceText(sizing);
  sizing = {.demand = cores, .producers = 1, .ways = {own(400, 700), way("--decode=fast", 500, 1000)}};
  EXPECT_EQ(adviceText(sizing),
            "loading limits training to 171 of the 300 images/s that the devices take; --input=host would give 210; "
            "--decode=fast with --input=host would give 231");
  sizing.producers = inTheStep;
  EXPECT_EQ(adviceText(sizing),
            "loading limits training to 210 of the 300 images/s that the devices take; --decode=fast would give 231");
  sizing = {.demand = gpus, .producers = 8};
  sizing.ways = {own(300, 4500)};
  EXPECT_EQ(adviceText(sizing),
            "loading hardly limits training: it reaches 2000 of the 2000 images/s that the devices take");
}

TEST(InputSizing, TheDevicesAreMeasuredWithImagesOfTheSameSizeAndClasses) {
  Config config = tinyConfig();
  config.input.data = tenImages();
  config.input.augment = "crop", config.input.producers = 3;
  config.network.imageSize = 40;
  const RunPlan plan = resolvePlan(config);
  const Config alone = withoutLoading(plan);
  EXPECT_EQ(alone.input.source, "device");
  EXPECT_EQ(alone.input.data, "");
  EXPECT_EQ(alone.network, plan.config.network);
  EXPECT_EQ(alone.step, plan.config.step);
  EXPECT_EQ(alone.network.classes, 10);
}

TEST(InputSizing, PixelsAreOneWayAndNoneIsDecoded) {
  Config config = tinyConfig();
  config.input.data = tenImages();
  const RunPlan plan = resolvePlan(config);
  const InputDemand demand = demandOf(plan);
  EXPECT_TRUE(demand.sharesCores);
  EXPECT_GE(demand.cores, 1);
  const auto ways = measureInput(plan, demand, std::chrono::milliseconds(6));
  ASSERT_EQ(ways.size(), 1U);
  EXPECT_TRUE(ways[0].ofConfig);
  EXPECT_GT(ways[0].all.imagesPerSecond, 0);
  EXPECT_EQ(ways[0].one.decode, 0);
  EXPECT_GT(ways[0].one.normalize, 0) << "producers of a CPU normalise";
}

}  // namespace
}  // namespace tandem
