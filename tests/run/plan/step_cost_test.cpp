#include "run/plan/step_cost.h"

#include <gtest/gtest.h>

#include "run/tiny_config.h"

namespace tandem {
namespace {

Config trivial(int64_t replicas) {
  Config config = tinyConfig();
  config.placement.replicas = replicas;
  return config;
}

StepWork workOf(const Config& config) {
  const RunPlan plan = resolvePlan(config);
  return stepWork(plan);
}

TEST(StepWork, FlopsOfTrainingLeaveOutTheGradientOfTheImages) {
  Config config;
  config.step.batch = 1;
  // Three times forward's 8,178,368,512 less the gradient of the input of a 7x7 convolution, 2 * 64 * 3 * 7^2 * 112^2.
  EXPECT_EQ(workOf(config).flopsPerImage, 3 * 8178368512. - 2. * 64 * 3 * 7 * 7 * 112 * 112);
  config.step.forwardOnly = true;
  EXPECT_EQ(workOf(config).flopsPerImage, 8178368512.);
}

TEST(StepWork, BytesAreActivationsGradientsWeightsAndStateWrittenAndRead) {
  for (const int64_t replicas : {1, 2}) {
    for (const auto& [precision, gradient] : {std::pair("fp32", 4), std::pair("bf16", 2)}) {
      Config config = trivial(replicas);
      config.numerics.precision = precision;
      const RunPlan plan = resolvePlan(config);
      const auto values = static_cast<double>(plan.parameters), kept = static_cast<double>(plan.activationBytes);
      const auto all = static_cast<double>(replicas);
      ASSERT_GT(kept, 0);
      EXPECT_EQ(workOf(config).bytesPerStep, 2 * (all * (kept + gradient * values) + (4 + 4) * values));
      config.step.optimizer = "adam";
      EXPECT_EQ(workOf(config).bytesPerStep, 2 * (all * (kept + gradient * values) + (4 + 8) * values));
    }
  }
}

TEST(StepWork, PartsOfABatchKeepTheirActivationsOneAfterTheOther) {
  Config config = trivial(1);
  const double whole = workOf(config).bytesPerStep;
  config.step.accumulate = 2;
  EXPECT_EQ(workOf(config).bytesPerStep, whole);
}

TEST(StepWork, WithoutAPlanOfBackwardBytesAreNotKnown) {
  Config config = trivial(1);
  config.step.forwardOnly = true;
  EXPECT_EQ(workOf(config).bytesPerStep, 0);
  config = trivial(1);
  config.numerics.executor = "autograd";
  EXPECT_EQ(workOf(config).bytesPerStep, 0);
}

}  // namespace
}  // namespace tandem
