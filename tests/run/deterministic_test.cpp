#include <gtest/gtest.h>

#include <cmath>

#include "base/text.h"
#include "run/gpu_training.h"
#include "support/precisions.h"
#include "support/tests_folder.h"

namespace tandem {
namespace {

const at::Device gpu(at::kCUDA, 0);

// A few layers with batch-norm, and a model of the zoo that adds to it; the step one CUDA graph, and eager too.
TEST(OnAGpu, ADeterministicRunGivesTheSameBitsAgain) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "no GPU here";
  for (const std::string& model : {concat(testsFolder(), "/run/strided_net.json"), concat("resnet20")}) {
    for (const Precision& precision : precisionsOn(gpu)) {
      for (const char* graph : {"on", "off"}) {
        Config config;
        config.network.model = model;
        config.numerics.precision = concat(precision.name);
        config.numerics.cudaGraph = graph;
        config.numerics.deterministic = true;
        const GpuTraining first = trainOnGpu(config);
        EXPECT_TRUE(first.sameBits(trainOnGpu(config))) << model << ' ' << precision.name << ", graph " << graph;
        for (const double loss : first.losses) EXPECT_TRUE(std::isfinite(loss)) << model << ' ' << precision.name;
        config.step.seed = 2;
        EXPECT_FALSE(first.sameBits(trainOnGpu(config))) << "other weights and images";
      }
    }
  }
}

// Their sums are in another order: losses differ by roundings, and by what those make of eight small steps. Not with a
// scaled loss: one of both may skip a step.
TEST(OnAGpu, EnginesThatWereChosenTrainAsAten) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "no GPU here";
  for (const Precision& precision : precisionsOn(gpu)) {
    if (precision.lossScaling) continue;
    Config config;
    config.network.model = "resnet20";
    config.numerics.precision = concat(precision.name);
    config.step.learningRate = 0.01;
    const GpuTraining chosen = trainOnGpu(config);
    config.numerics.convolution = "direct";
    const GpuTraining aten = trainOnGpu(config);
    ASSERT_EQ(chosen.losses.size(), aten.losses.size());
    for (size_t i = 0; i < aten.losses.size(); ++i) {
      EXPECT_NEAR(chosen.losses[i] / aten.losses[i], 1, 0.05) << precision.name << ", step " << i;
    }
  }
}

}  // namespace
}  // namespace tandem
