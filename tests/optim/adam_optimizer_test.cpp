#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/catalog.h"
#include "optim/optimizer.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

/// PyTorch's rules on one parameter, in double: the oracle.
struct PlainAdam {
  at::Tensor weight, mean, square;
  void step(at::Tensor gradient, const OptimizerOptions& o, int64_t number, double rate) {
    const bool decoupled = o.rule->name == "adamw";
    if (!decoupled) gradient = gradient + o.weightDecay * weight;
    if (decoupled) weight = weight - rate * o.weightDecay * weight;
    mean = o.beta1 * mean + (1 - o.beta1) * gradient;
    square = o.beta2 * square + (1 - o.beta2) * gradient * gradient;
    const auto t = static_cast<double>(number);
    const at::Tensor unbiased = mean / (1 - std::pow(o.beta1, t)), variance = square / (1 - std::pow(o.beta2, t));
    weight = weight - rate * unbiased / (variance.sqrt() + o.epsilon);
  }
};

void expectFollowsThePlainRule(const char* name, at::Device device) {
  FlatBuffers buffers({{"a.weight", {7}, false}}, precisions().front(), device, at::MemoryFormat::Contiguous);
  const OptimizerOptions options{.rule = &find(optimizers(), name, "optimizer"),
                                 .learningRate = 0.2,
                                 .weightDecay = 0.1,
                                 .beta1 = 0.8,
                                 .beta2 = 0.95,
                                 .epsilon = 1e-3,
                                 .schedule = &find(schedules(), "cosine", "schedule"),
                                 .course = {.totalSteps = 10}};
  const auto optimizer = makeOptimizer(buffers, options);
  buffers.masterView(0).copy_(at::arange(7));
  PlainAdam plain{at::arange(7, at::kDouble), at::zeros({7}, at::kDouble), at::zeros({7}, at::kDouble)};
  for (int64_t step = 0; step < 6; ++step) {
    const at::Tensor gradient = at::sin(at::arange(7, at::kDouble) + static_cast<double>(step));
    buffers.gradientView(0).copy_(4 * gradient);
    optimizer->beginStep(step, 0.25);
    optimizer->update(buffers.slice(0));
    plain.step(gradient, options, step + 1, 0.2 * factorAt(*options.schedule, options.course, step));
  }
  const at::Tensor weight = buffers.masterView(0).to(at::kCPU, at::kDouble);
  EXPECT_LT((weight - plain.weight).norm().item<double>(), 1e-5) << name << " on " << device;
}

TEST(AdamOptimizer, FollowsThePlainRuleAndTheScheduleOverSteps) {
  for (const at::Device device : testDevices()) {
    for (const char* name : {"adam", "adamw"}) expectFollowsThePlainRule(name, device);
  }
}

}  // namespace
}  // namespace tandem
