#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/catalog.h"
#include "optim/optimizer.h"
#include "support/test_devices.h"

// Numbers of PyTorch 2.11.0 and timm 1.0.31 in fp64. Two parameters, w [2, 3] with weight decay 0.1 and b [3] without
// any: w[i] = cos(i / 10), b[i] = cos(i / 10 + 1); in step t their gradients are sin(0.3 i + 0.7 t) and
// sin(0.3 i + 0.7 t + 1).

namespace tandem {
namespace {

using Numbers = std::vector<double>;

class PublishedNumbers : public testing::Test {
 protected:
  static FlatBuffers start(at::Device device) {
    FlatBuffers buffers({{.name = "w", .shape = {2, 3}}, {.name = "b", .shape = {3}, .isWeight = false}},
                        precisions().front(), device, at::MemoryFormat::Contiguous);
    fill(buffers);
    return buffers;
  }
  static void fill(FlatBuffers& buffers) {
    buffers.masterView(0).copy_((at::arange(6, at::kDouble) * 0.1).cos().view({2, 3}));
    buffers.masterView(1).copy_((at::arange(3, at::kDouble) * 0.1 + 1).cos());
  }
  static OptimizerOptions of(const char* rule) {
    return {.rule = &find(optimizers(), rule, "optimizer"), .weightDecay = 0.1, .decaysWeightsAlone = true};
  }
  static void expectNear(const at::Tensor& actual, const Numbers& expected) {
    const at::Tensor values = actual.flatten().to(at::kCPU, at::kDouble);
    for (int64_t i = 0; i < values.numel(); ++i) {
      EXPECT_NEAR(values[i].item<double>(), expected[static_cast<size_t>(i)], 2e-6) << i;
    }
  }
  /// Makes 20 steps, on every device. `w` and `b`: what they must become.
  static void expectAfter20(const OptimizerOptions& options, const Numbers& w, const Numbers& b) {
    for (const at::Device device : testDevices()) {
      FlatBuffers buffers = start(device);
      train(buffers, options);
      expectNear(buffers.masterView(0), w);
      expectNear(buffers.masterView(1), b);
    }
  }
  static void train(FlatBuffers& buffers, const OptimizerOptions& options) {
    const auto optimizer = makeOptimizer(buffers, options);
    for (int64_t step = 0; step < 20; ++step) {
      const double phase = 0.7 * static_cast<double>(step);
      buffers.gradientView(0).copy_((at::arange(6, at::kDouble) * 0.3 + phase).sin().view({2, 3}) * 4);
      buffers.gradientView(1).copy_((at::arange(3, at::kDouble) * 0.3 + phase + 1).sin() * 4);
      optimizer->beginStep(step, 0.25);
      if (optimizer->clips()) {
        optimizer->measure(buffers.slice(1));
        optimizer->measure(buffers.slice(0));
        optimizer->clip(optimizer->squares());
      }
      optimizer->update(buffers.whole(0));
    }
  }
};

// torch.optim.RMSprop(lr=0.01, alpha=0.9, eps=1e-3, momentum=0.9), and without momentum.
TEST_F(PublishedNumbers, RmspropIsThatOfPyTorch) {
  OptimizerOptions options = of("rmsprop");
  options.learningRate = 0.01, options.epsilon = 1e-3;
  expectAfter20(options, {0.2159996346, 0.3097263392, 0.3904276311, 0.4510821149, 0.494816018, 0.5267034896},
                {0.1752729683, 0.1744806374, 0.1667197852});
  options.momentum = 0;
  expectAfter20(options, {0.9013629846, 0.902811244, 0.8941874802, 0.8751385941, 0.8465686523, 0.8096807937},
                {0.486837397, 0.4060735595, 0.3217875507});
}

// timm.optim.Lars(lr=0.5, momentum=0.9, trust_coeff=0.02)
TEST_F(PublishedNumbers, LarsIsThatOfTimm) {
  OptimizerOptions options = of("lars");
  options.learningRate = 0.5, options.trust = 0.02;
  expectAfter20(options, {0.7445724501, 0.732854947, 0.7242863852, 0.7186021147, 0.7146045769, 0.7102873184},
                {-4.087866003, -3.115462843, -1.828778458});
}

// timm.optim.Lamb(lr=0.01, betas=(0.8, 0.95), eps=1e-3, max_grad_norm=None)
TEST_F(PublishedNumbers, LambIsThatOfTimm) {
  OptimizerOptions options = of("lamb");
  options.learningRate = 0.01, options.beta1 = 0.8, options.beta2 = 0.95, options.epsilon = 1e-3;
  expectAfter20(options, {0.9502228161, 0.9417042063, 0.9314625185, 0.9096070253, 0.8765868266, 0.8333652085},
                {0.5068363494, 0.4249420127, 0.3394000683});
}

// torch.nn.utils.clip_grad_norm_(1.0) before torch.optim.SGD(lr=0.1, momentum=0.9)
TEST_F(PublishedNumbers, ClippingIsThatOfPyTorch) {
  OptimizerOptions options = of("sgd");
  options.clipNorm = 1;
  expectAfter20(options, {-0.07870875557, -0.07626246458, -0.05770310919, -0.02482816988, 0.01919456931, 0.07011229923},
                {0.1613226134, 0.2093424429, 0.2746485436});
}

// timm.utils.ModelEmaV2(decay=0.8) behind torch.optim.SGD(lr=0.1, momentum=0.9)
TEST_F(PublishedNumbers, TheAverageIsThatOfTimm) {
  OptimizerOptions options = of("sgd");
  options.average.decay = 0.8;
  const Numbers w{-0.2206473306, -0.2487669037, -0.2453641046, -0.2108825238, -0.1486334618, -0.06449783092},
      b{-0.3853313558, -0.2602156714, -0.07586948797},
      averageOfW{-0.3002649298, -0.3168141197, -0.2810431428, -0.1965079177, -0.07135672624, 0.08240361365},
      averageOfB{-0.3488450059, -0.1969606688, 0.008503786458};
  expectAfter20(options, w, b);
  for (const at::Device device : testDevices()) {
    FlatBuffers buffers = start(device);
    train(buffers, options);
    swapAverage(buffers, options);
    expectNear(buffers.masterView(0), averageOfW);
    expectNear(buffers.weightView(1), averageOfB);
    swapAverage(buffers, options);
    expectNear(buffers.masterView(0), w);
    expectNear(buffers.stateView(averageState(options), 1), averageOfB);
  }
}

// torch.optim.SGD(momentum=0.9, nesterov=True), of w with lr=0.1 and weight_decay=0.1, of b with four times the rate
// and a quarter of the decay; after every third update LookaheadState.update(decay=0.8 * (updates / 20) ** 3) of
// KellerJordan/cifar10-airbench.
TEST_F(PublishedNumbers, LookaheadAndTheRateOfShiftsAreThoseOfAirbench) {
  OptimizerOptions options = of("sgd");
  options.decaysWeightsAlone = false;
  options.nesterov = true, options.shiftRate = 4;
  options.average = {.decay = 0.8, .every = 3, .leads = true, .power = 3};
  options.course.totalSteps = 20;
  for (const at::Device device : testDevices()) {
    FlatBuffers buffers(
        {{.name = "w", .shape = {2, 3}}, {.name = "b", .shape = {3}, .isWeight = false, .isShift = true}},
        precisions().front(), device, at::MemoryFormat::Contiguous);
    fill(buffers);
    train(buffers, options);
    expectNear(buffers.masterView(0),
               {-0.1870485134, -0.3034656727, -0.3718260597, -0.3863377447, -0.3462251161, -0.2557929611});
    expectNear(buffers.masterView(1), {-2.375421056, -2.128313218, -1.681539363});
    expectNear(buffers.stateView(averageState(options), 0),
               {-0.2714167247, -0.2798385648, -0.2353432017, -0.1423244259, -0.009785260013, 0.1494731884});
    expectNear(buffers.stateView(averageState(options), 1), {-1.553680947, -0.9593557348, -0.2666061154});
  }
}

}  // namespace
}  // namespace tandem
