#include "kernels/optimizer/adam.h"

#include <cmath>

#include "prepared.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

struct State {
  at::Tensor master, weights;
  AdamMoments moments;
  State(int64_t count, at::ScalarType type, at::Device device, at::ScalarType wide = at::kFloat) {
    at::manual_seed(3);
    master = at::randn({count}).to(device, wide);
    weights = type == at::kFloat ? master : master.to(type);
    moments = {at::zeros_like(master), at::zeros_like(master)};
  }
};

const AdamHyperparameters steps[] = {
    {.rate = 1e-3},
    {.rate = 1e-2, .weightDecay = 0.1},
    {.rate = 1e-2, .weightDecay = 0.1, .decoupled = true},
    {.rate = 0.1, .beta1 = 0.5, .beta2 = 0.6, .epsilon = 1e-3, .weightDecay = 1e-2, .scale = 0.25},
    {.rate = 0.1, .beta1 = 0, .beta2 = 0, .epsilon = 0.1, .scale = 4, .decoupled = true},
};

using Case = std::tuple<int64_t, at::ScalarType, at::ScalarType, int>;

class AdamUpdate : public testing::TestWithParam<Case> {};

TEST_P(AdamUpdate, EqualsTheReferenceInFp64OverFiveSteps) {
  const auto [count, weightType, gradientType, rule] = GetParam();
  AdamHyperparameters step = steps[rule];
  for (const at::Device device : testDevices()) {
    State actual(count, weightType, device), expected(count, at::kFloat, device, at::kDouble);
    for (step.number = 1; step.number <= 5; ++step.number) {
      const at::Tensor gradient = at::randn({count}).to(device, gradientType);
      adamUpdate(actual.master, actual.weights, gradient, actual.moments, prepared(step, device));
      adamUpdateReference(expected.master, expected.weights, gradient, expected.moments, step);
    }
    EXPECT_LT(relativeError(actual.master, expected.master), 1e-6) << device;
    EXPECT_LT(relativeError(actual.moments.mean, expected.moments.mean), 1e-6) << device;
    EXPECT_LT(relativeError(actual.moments.square, expected.moments.square), 1e-6) << device;
    EXPECT_TRUE(at::equal(actual.weights, actual.master.to(weightType))) << "rounded to nearest even, " << device;
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, AdamUpdate,
                         testing::Combine(testing::Values(1, 31, 1000, 100003),
                                          testing::Values(at::kFloat, at::kBFloat16, at::kHalf),
                                          testing::Values(at::kFloat, at::kBFloat16, at::kHalf), testing::Range(0, 5)));

/// ATen's own Adam and AdamW, written by others.
void updateByAten(State& state, const at::Tensor& gradient, const AdamHyperparameters& s) {
  const std::vector<at::Tensor> weights{state.master}, gradients{gradient * s.scale}, means{state.moments.mean},
      squares{state.moments.square}, numbers{at::full({}, static_cast<double>(s.number), at::kFloat)};
  if (s.decoupled) {
    at::_fused_adamw_(weights, gradients, means, squares, {}, numbers, s.rate, s.beta1, s.beta2, s.weightDecay,
                      s.epsilon, /*amsgrad=*/false, /*maximize=*/false);
  } else {
    at::_fused_adam_(weights, gradients, means, squares, {}, numbers, s.rate, s.beta1, s.beta2, s.weightDecay,
                     s.epsilon, /*amsgrad=*/false, /*maximize=*/false);
  }
}

TEST(AdamUpdate, EqualsAtensFusedOptimizersFromTheFirstStepOn) {
  for (AdamHyperparameters step : steps) {
    State kernel(1003, at::kFloat, at::kCPU), reference(1003, at::kFloat, at::kCPU), aten(1003, at::kFloat, at::kCPU);
    for (step.number = 1; step.number <= 20; ++step.number) {
      const at::Tensor gradient = at::randn({1003});
      adamUpdate(kernel.master, kernel.weights, gradient, kernel.moments, prepared(step));
      adamUpdateReference(reference.master, reference.weights, gradient, reference.moments, step);
      updateByAten(aten, gradient, step);
      EXPECT_LT(relativeError(kernel.master, aten.master), 1e-6) << "step " << step.number;
      EXPECT_LT(relativeError(reference.master, aten.master), 1e-6) << "step " << step.number;
    }
  }
}

TEST(AdamUpdate, RangesAtAnyElementGiveTheBitsOfTheWhole) {
  constexpr int64_t count = 1000;
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    State whole(count, type, at::kCPU), parts(count, type, at::kCPU);
    const at::Tensor gradient = at::randn({count}).to(type);
    AdamHyperparameters step{.rate = 1e-2, .weightDecay = 0.1};
    for (step.number = 1; step.number <= 3; ++step.number) {
      adamUpdate(whole.master, whole.weights, gradient, whole.moments, prepared(step));
      const int64_t cut = 37 * step.number + 1;  // at no vector's border
      for (const auto& [first, length] : {std::pair{cut, count - cut}, {int64_t{0}, cut}}) {
        at::Tensor master = parts.master.narrow(0, first, length), weights = parts.weights.narrow(0, first, length);
        const AdamMoments moments{parts.moments.mean.narrow(0, first, length),
                                  parts.moments.square.narrow(0, first, length)};
        adamUpdate(master, weights, gradient.narrow(0, first, length), moments, prepared(step));
      }
    }
    EXPECT_TRUE(at::equal(parts.master, whole.master));
    EXPECT_TRUE(at::equal(parts.weights, whole.weights));
    EXPECT_TRUE(at::equal(parts.moments.square, whole.moments.square));
  }
}

// LAMB's direction is the move of Adam without decay at rate 1, and the decay.
TEST(LambDirection, IsThatOfAdamAndTheDecay) {
  for (const at::Device device : testDevices()) {
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
      State state(1003, at::kFloat, device), adam(1003, at::kFloat, device);
      at::Tensor clip = at::full({}, 0.25, at::device(device));
      for (int64_t number = 1; number <= 3; ++number) {
        const at::Tensor gradient = at::randn({1003}).to(device, type), before = state.master.clone();
        AdamHyperparameters step{.rate = 1, .epsilon = 1e-3, .weightDecay = 0.1, .scale = 2, .number = number};
        step.clip = clip.const_data_ptr<float>();
        const at::Tensor direction = lambDirection(state.master, gradient, state.moments, prepared(step, device));
        EXPECT_TRUE(at::equal(state.master, before)) << "weights are read alone";
        step.weightDecay = 0, step.scale = 0.5, step.clip = nullptr;
        at::Tensor moved = before.clone();
        adamUpdateReference(moved, moved, gradient, adam.moments, step);
        EXPECT_LT(relativeError(direction, before - moved + 0.1 * before), 1e-6) << device << ' ' << type;
      }
      EXPECT_LT(relativeError(state.moments.square, adam.moments.square), 1e-6) << device << ' ' << type;
    }
  }
}

TEST(AdamUpdate, LeavesAWeightWithoutGradientAlone) {
  State state(10, at::kFloat, at::kCPU);
  const at::Tensor before = state.master.clone();
  adamUpdate(state.master, state.weights, at::zeros({10}), state.moments, prepared(AdamHyperparameters{.rate = 0.5}));
  EXPECT_TRUE(at::equal(state.master, before)) << "0 / (0 + epsilon)";
}

TEST(AdamUpdate, WritesWeightsOfAnyTypeApartFromMaster) {
  State state(100, at::kFloat, at::kCPU);
  at::Tensor apart = at::zeros({100});
  adamUpdate(state.master, apart, at::randn({100}), state.moments, prepared(AdamHyperparameters{.rate = 0.1}));
  EXPECT_TRUE(at::equal(apart, state.master));
}

TEST(AdamUpdate, KeepsNanInBfloat16) {
  State state(3, at::kBFloat16, at::kCPU);
  adamUpdate(state.master, state.weights, at::tensor({std::nanf(""), 1.F, 1.F}), state.moments,
             prepared(AdamHyperparameters{.rate = 0.1}));
  EXPECT_TRUE(state.weights.isnan()[0].item<bool>());
  EXPECT_EQ(state.weights.isnan().sum().item<int64_t>(), 1);
}

TEST(AdamUpdate, RefusesTensorsThatDoNotFit) {
  State state(10, at::kFloat, at::kCPU);
  const at::Tensor gradient = at::zeros({10}), wide = gradient.to(at::kDouble);
  const auto step = prepared(AdamHyperparameters{});
  EXPECT_NO_THROW(adamUpdate(state.master, state.weights, gradient, state.moments, step));
  EXPECT_ANY_THROW(adamUpdate(state.master, state.weights, at::zeros({9}), state.moments, step));
  EXPECT_ANY_THROW(adamUpdate(state.master, state.weights, wide, state.moments, step));
  EXPECT_ANY_THROW(adamUpdate(state.master, state.weights, gradient, {state.moments.mean, {}}, step));
  EXPECT_ANY_THROW(adamUpdate(state.master, state.weights, gradient, {wide, gradient}, step));
}

}  // namespace
}  // namespace tandem
