#include "machine/gpu/gpu_utilization.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace tandem {
namespace {

ProbedGpu at(const std::string& bus) { return {concat("cuda:", bus), concat("00000000:", bus, ":00.0")}; }

TEST(GpuUse, IsThatOfEveryGpuByItsAddress) {
  const auto uses = readGpuUse(std::vector{at("65"), at("C1"), at("FF")}, TANDEM_FAKE_NVML);
  ASSERT_EQ(uses.size(), 3U);
  EXPECT_EQ(uses[0].percent, 72.0);
  EXPECT_EQ(uses[0].mebibytes, 2048.0);
  EXPECT_EQ(uses[0].programs, 2.0);
  EXPECT_EQ(uses[1].mebibytes, 5120.0);
  EXPECT_EQ(uses[1].programs, 0.0);
  EXPECT_FALSE(uses[2].percent || uses[2].mebibytes || uses[2].programs);
  const GpuUse old = readGpuUse(std::vector{at("65")}, TANDEM_FAKE_OLD_NVML).front();
  EXPECT_FALSE(old.programs);
  EXPECT_EQ(old.mebibytes, 2648.0) << "with what the driver keeps for itself";
  EXPECT_FALSE(readGpuUse(std::vector{at("65")}, "libno-such-library.so.1").front().percent);
}

TEST(GpuUse, BusyAreTheComputedOnTheUsedAndTheFilled) {
  const auto uses = readGpuUse(std::vector{at("65"), at("98"), at("C1"), at("FF")}, TANDEM_FAKE_NVML);
  EXPECT_EQ(busyLines(uses),
            (std::vector<std::string>{"cuda:65 is busy: 72 % used, 2 GiB held, by 2 computing program(s)",
                                      "cuda:C1 is busy: 3 % used, 5 GiB held, by 0 computing program(s)"}));
  const GpuUse partly{.device = "cuda:0", .percent = 6.0, .mebibytes = {}, .programs = {}};
  EXPECT_EQ(busyLines(std::vector{partly}),
            std::vector<std::string>{"cuda:0 is busy: 6 % used, memory unknown, by an unknown number of computing "
                                     "program(s)"});
}

TEST(GpuUse, OfARunThatHasJustEndedIsWaitedOut) {
  EXPECT_EQ(settledGpuUse(std::vector{at("E1")}, Nanos{}, TANDEM_FAKE_NVML).front().percent, 60.0);
  EXPECT_EQ(settledGpuUse(std::vector{at("E1")}, std::chrono::seconds(60), TANDEM_FAKE_NVML).front().percent, 0.0);
}

TEST(GpuUse, TheMostUsedGpuIsJudged) {
  EXPECT_EQ(largestUse(readGpuUse(std::vector{at("98"), at("65"), at("FF")}, TANDEM_FAKE_NVML)), 0.72);
  EXPECT_FALSE(largestUse(readGpuUse(std::vector{at("FF")}, TANDEM_FAKE_NVML)));
  EXPECT_FALSE(largestUse({}));
}

TEST(GpuUse, AnExclusiveGpuIsNotShared) {
  GpuFacts gpu;
  gpu.name = "A GPU";
  GpuUse use{.device = "cuda:1", .percent = {}, .mebibytes = {}, .programs = 1.0};
  EXPECT_EQ(exclusionOf(gpu, use), "");
  gpu.exclusive = true;
  EXPECT_EQ(exclusionOf(gpu, use),
            "--devices=cuda:1: A GPU is in an exclusive compute mode and 1 program(s) compute on it; end them, or let "
            "nvidia-smi --compute-mode=DEFAULT allow several");
  use.programs = 0.0;
  EXPECT_EQ(exclusionOf(gpu, use), "");
}

TEST(GpuUse, MemoryThatOthersHoldIsNotFree) {
  GpuFacts gpu;
  gpu.memoryBytes = int64_t{8} << 30;
  GpuUse use{.device = "cuda:0", .percent = {}, .mebibytes = {}, .programs = {}};
  EXPECT_EQ(freeBytes(gpu, use), int64_t{8} << 30);
  use.mebibytes = 1024;
  EXPECT_EQ(freeBytes(gpu, use), int64_t{7} << 30);
}

}  // namespace
}  // namespace tandem
