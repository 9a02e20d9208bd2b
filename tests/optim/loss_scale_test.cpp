#include "optim/loss_scale.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "base/catalog.h"
#include "base/error.h"
#include "base/text.h"
#include "optim/optimizer.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

const float infinite = std::numeric_limits<float>::infinity();

/// The scale after each step; of those in `overflows` (from 0) a gradient is infinite.
std::vector<double> scales(const LossScaleRule& rule, const std::vector<int>& overflows, int steps) {
  LossScale scale(at::kCPU, rule);
  std::vector<double> found;
  for (int step = 0; step < steps; ++step) {
    const bool isFinite = std::ranges::find(overflows, step) == overflows.end();
    scale.check(at::full({5}, isFinite ? 1.0F : infinite));
    scale.endStep();
    found.push_back(scale.state().scale);
  }
  return found;
}

TEST(LossScale, StartsAndMovesByTheNumbersOfGradScaler) {
  const LossScaleRule rule;
  EXPECT_EQ(rule.initial, 65536);
  EXPECT_EQ(rule.growth, 2);
  EXPECT_EQ(rule.backoff, 0.5);
  EXPECT_EQ(rule.growthInterval, 2000);
  const auto quiet = scales(rule, {}, 2000);
  EXPECT_EQ(quiet[1998], 65536);
  EXPECT_EQ(quiet[1999], 131072);
}

TEST(LossScale, AnOverflowHalvesItAndTheIntervalBeginsAnew) {
  const LossScaleRule rule{.initial = 64, .growthInterval = 3};
  EXPECT_EQ(scales(rule, {1}, 6), (std::vector<double>{64, 32, 32, 32, 64, 64}));
  EXPECT_EQ(scales(rule, {2, 3}, 7), (std::vector<double>{64, 64, 32, 16, 16, 16, 32}));
}

TEST(LossScale, OfItsOwnNumbers) {
  const LossScaleRule rule{.initial = 100, .growth = 3, .backoff = 0.25, .growthInterval = 2};
  EXPECT_EQ(scales(rule, {0}, 5), (std::vector<double>{25, 25, 75, 75, 225}));
}

TEST(LossScale, FallsToItsLeastAndThereAnOverflowIsAnError) {
  const LossScaleRule rule{.initial = 6, .minimum = 2};
  EXPECT_EQ(scales(rule, {0, 1}, 3), (std::vector<double>{3, 2, 2}));
  try {
    scales(rule, {0, 1, 3}, 4);
    FAIL() << "gradients that overflow with the least scale";
  } catch (const NumericError& failure) {
    EXPECT_STREQ(
        failure.what(),
        "the loss scale fell to 2, its least, and a gradient is still not finite, after 3 skipped steps; lower "
        "--lr, or use --precision=bf16 or fp32, whose exponents reach further");
  }
}

TEST(LossScale, FindsWhatIsNotFiniteAnywhereInAnyType) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const int64_t count : {1, 37, 200'000}) {
      for (const float value : {infinite, -infinite, std::nanf("")}) {
        for (const int64_t place : {int64_t{0}, count / 2, count - 1}) {
          at::Tensor gradient = at::full({count}, -60'000.0F).to(type);
          LossScale scale(at::kCPU, {});
          scale.check(gradient);
          EXPECT_EQ(*scale.forKernels().overflow, 0) << type;
          gradient[place] = value;
          scale.check(gradient);
          EXPECT_EQ(*scale.forKernels().overflow, 1) << type << ' ' << count << ' ' << place;
          scale.check(at::zeros({3}));
          EXPECT_EQ(*scale.forKernels().overflow, 1) << "what is found stays";
          scale.endStep();
          EXPECT_EQ(*scale.forKernels().overflow, 0) << "for the step";
          EXPECT_EQ(scale.state().skipped, 1);
        }
      }
    }
  }
}

TEST(LossScale, KnowsWhatOthersFound) {
  LossScale scale(at::kCPU, {});
  scale.join(at::zeros({1}));
  EXPECT_EQ(*scale.forKernels().overflow, 0);
  scale.join(at::ones({1}));
  scale.join(at::zeros({1}));
  EXPECT_EQ(*scale.forKernels().overflow, 1);
}

/// One parameter of an optimizer, and the gradient that its steps are of.
struct Training {
  Training(const OptimizerEntry& rule, const LossScale* scale, at::Device device)
      : buffers({{"a.weight", {700}, false}}, find(precisions(), "fp16", "precision"), device,
                at::MemoryFormat::Contiguous),
        optimizer(makeOptimizer(buffers, {.rule = &rule, .learningRate = 0.01, .weightDecay = 0.1})) {
    buffers.masterView(0).copy_(at::arange(700).cos());
    buffers.refreshWeights();
    optimizer->setLossScale(scale);
  }
  void step(int64_t number, const at::Tensor& gradient) {
    buffers.gradientView(0).copy_(gradient);
    optimizer->beginStep(number, 0.5);
    optimizer->update(buffers.whole(0));
  }

  FlatBuffers buffers;
  std::unique_ptr<Optimizer> optimizer;
};

void expectDividedOut(const OptimizerEntry& rule, at::Device device) {
  LossScale scale(device, {.initial = 512});
  Training plain(rule, nullptr, device), scaled(rule, &scale, device);
  for (int64_t step = 0, batch = 0; step < 6; ++step) {
    const at::Tensor gradient = at::sin(at::arange(700) * 0.3 + static_cast<double>(batch)) + 1.5;
    const bool overflows = step == 0 || step == 3;
    at::Tensor given = (gradient * scale.state().scale).to(device, at::kHalf);
    if (overflows) given[13] = infinite;
    const at::Tensor before = scaled.buffers.masterView(0).clone();
    scale.check(given);
    scaled.step(step, given);
    scale.endStep();
    EXPECT_EQ(at::equal(scaled.buffers.masterView(0), before), overflows);
    if (!overflows) plain.step(batch++, gradient.to(at::kHalf));
    EXPECT_TRUE(at::equal(scaled.buffers.masterView(0), plain.buffers.masterView(0))) << "step " << step;
    EXPECT_TRUE(at::equal(scaled.buffers.weightView(0), plain.buffers.weightView(0))) << "step " << step;
  }
  EXPECT_EQ(scale.state().scale, 128);
  EXPECT_EQ(scale.state().skipped, 2);
}

// A power of two changes no bit, and a step that was skipped has never been: weights, state and Adam's count.
TEST(LossScale, IsDividedOutAndSkippedStepsDoNotCount) {
  for (const at::Device device : testDevices()) {
    for (const OptimizerEntry& rule : optimizers()) {
      SCOPED_TRACE(concat(rule.name, " on ", device.str()));
      expectDividedOut(rule, device);
    }
  }
}

}  // namespace
}  // namespace tandem
