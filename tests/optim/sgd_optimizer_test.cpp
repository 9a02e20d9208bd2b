#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/catalog.h"
#include "optim/optimizer.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

FlatBuffers twoParameters(const char* precision, at::Device device = at::kCPU) {
  return FlatBuffers({{"a.weight", {7}, false}, {"b.weight", {5}, true}}, find(precisions(), precision, "precision"),
                     device, at::MemoryFormat::Contiguous);
}

/// PyTorch's rule on one parameter, in double: the oracle.
struct PlainSgd {
  at::Tensor weight, velocity;
  void step(const at::Tensor& gradient, const OptimizerOptions& o, double rate) {
    const at::Tensor g = gradient + o.weightDecay * weight;
    velocity = o.momentum * velocity + g;
    weight = weight - rate * (o.nesterov ? g + o.momentum * velocity : velocity);
  }
};

TEST(SgdOptimizer, followsThePlainRuleAndTheScheduleOverSteps) {
  for (const at::Device device : testDevices()) {
    FlatBuffers buffers = twoParameters("fp32", device);
    const OptimizerOptions options{.learningRate = 0.2,
                                   .momentum = 0.9,
                                   .weightDecay = 1e-2,
                                   .nesterov = true,
                                   .schedule = &find(schedules(), "cosine", "schedule"),
                                   .course = {.totalSteps = 10}};
    const auto optimizer = makeOptimizer(buffers, options);
    buffers.masterView(0).copy_(at::arange(7));
    PlainSgd plain{at::arange(7, at::kDouble), at::zeros({7}, at::kDouble)};
    for (int64_t step = 0; step < 6; ++step) {
      const at::Tensor gradient = at::sin(at::arange(7, at::kDouble) + static_cast<double>(step));
      buffers.gradientView(0).copy_(4 * gradient);
      optimizer->beginStep(step, 0.25);
      optimizer->update(buffers.slice(0));
      plain.step(gradient, options, 0.2 * factorAt(*options.schedule, options.course, step));
    }
    const at::Tensor weight = buffers.masterView(0).to(at::kCPU, at::kDouble);
    EXPECT_LT((weight - plain.weight).norm().item<double>(), 1e-5) << device;
  }
}

TEST(SgdOptimizer, allocatesStateOfEverySegmentWhereItHasAny) {
  for (const double momentum : {0.0, 0.9}) {
    FlatBuffers buffers = twoParameters("bf16");
    const int64_t without = buffers.bytes();
    makeOptimizer(buffers, {.momentum = momentum})->allocateState();
    const int64_t all = 4 * (buffers.whole(0).count() + buffers.whole(1).count());
    EXPECT_EQ(buffers.bytes() - without, momentum > 0 ? all : 0);
  }
}

TEST(SgdOptimizer, leavesOtherSlicesAlone) {
  FlatBuffers buffers = twoParameters("fp32");
  const auto optimizer = makeOptimizer(buffers, {.learningRate = 1, .momentum = 0.9});
  buffers.masterView(0).fill_(3);
  buffers.masterView(1).fill_(5);
  buffers.gradientView(0).fill_(1);
  buffers.gradientView(1).fill_(1);
  optimizer->beginStep(0, 1);
  optimizer->update(buffers.slice(0));
  EXPECT_TRUE(buffers.masterView(0).eq(2).all().item<bool>());
  EXPECT_TRUE(buffers.masterView(1).eq(5).all().item<bool>());
}

TEST(SgdOptimizer, roundsTheMasterIntoBf16Weights) {
  FlatBuffers buffers = twoParameters("bf16");
  const auto optimizer = makeOptimizer(buffers, {.learningRate = 1e-3, .momentum = 0});
  buffers.masterView(0).fill_(1);
  buffers.refreshWeights();
  buffers.gradientView(0).fill_(1);
  for (int64_t step = 0; step < 3; ++step) {
    optimizer->beginStep(step, 1);
    optimizer->update(buffers.slice(0));
  }
  EXPECT_NEAR(buffers.masterView(0)[0].item<float>(), 0.997, 1e-6) << "the master keeps what bf16 would lose";
  EXPECT_EQ(buffers.weightView(0)[0].item<float>(), buffers.masterView(0)[0].to(at::kBFloat16).item<float>());
}

}  // namespace
}  // namespace tandem
