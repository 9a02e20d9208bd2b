#include "kernels/optimizer/rmsprop.h"

#include <cmath>

#include "prepared.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

struct State {
  at::Tensor master, weights;
  RmspropState kept;
  State(int64_t count, at::ScalarType type, at::Device device) {
    at::manual_seed(3);
    master = at::randn({count}).to(device);
    weights = type == at::kFloat ? master : master.to(type);
    kept = {at::zeros({count}, device), at::zeros({count}, device)};
  }
};

const RmspropHyperparameters steps[] = {
    {.rate = 0.01, .decay = 0.9, .epsilon = 1e-3},
    {.rate = 0.01, .decay = 0.99, .epsilon = 1e-3, .momentum = 0.9, .weightDecay = 1e-2, .scale = 0.5},
    {.rate = 0.1, .decay = 0.5, .epsilon = 1, .momentum = 0.5},
};

using Case = std::tuple<int64_t, at::ScalarType, at::ScalarType, int>;

class RmspropUpdate : public testing::TestWithParam<Case> {};

TEST_P(RmspropUpdate, EqualsTheReferenceOverFiveSteps) {
  const auto [count, weightType, gradientType, rule] = GetParam();
  const RmspropHyperparameters step = steps[rule];
  for (const at::Device device : testDevices()) {
    State actual(count, weightType, device), expected(count, weightType, device);
    for (int i = 0; i < 5; ++i) {
      const at::Tensor gradient = at::randn({count}).to(device, gradientType);
      rmspropUpdate(actual.master, actual.weights, gradient, actual.kept, prepared(step, device));
      rmspropUpdateReference(expected.master, expected.weights, gradient, expected.kept, step);
    }
    EXPECT_LT(relativeError(actual.master, expected.master), 1e-6) << device;
    EXPECT_LT(relativeError(actual.kept.square, expected.kept.square), 1e-6) << device;
    EXPECT_LT(relativeError(actual.kept.velocity, expected.kept.velocity), 1e-6) << device;
    EXPECT_TRUE(at::equal(actual.weights, actual.master.to(weightType))) << "rounded to nearest even, " << device;
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, RmspropUpdate,
                         testing::Combine(testing::Values(1, 31, 1000, 100003),
                                          testing::Values(at::kFloat, at::kBFloat16, at::kHalf),
                                          testing::Values(at::kFloat, at::kBFloat16, at::kHalf), testing::Range(0, 3)));

TEST(RmspropUpdate, NeedsNoVelocityWithoutMomentum) {
  State state(10, at::kFloat, at::kCPU), expected(10, at::kFloat, at::kCPU);
  const at::Tensor gradient = at::ones({10});
  state.kept.velocity = at::Tensor();
  rmspropUpdate(state.master, state.weights, gradient, state.kept, prepared(steps[0]));
  rmspropUpdateReference(expected.master, expected.weights, gradient, expected.kept, steps[0]);
  EXPECT_LT(relativeError(state.master, expected.master), 1e-6);
}

TEST(RmspropUpdate, RefusesTensorsThatDoNotFit) {
  State state(10, at::kFloat, at::kCPU);
  const at::Tensor gradient = at::zeros({10}), wide = gradient.to(at::kDouble);
  const auto step = prepared(steps[0]), withMomentum = prepared(steps[1]);
  EXPECT_NO_THROW(rmspropUpdate(state.master, state.weights, gradient, state.kept, withMomentum));
  EXPECT_ANY_THROW(rmspropUpdate(state.master, state.weights, at::zeros({9}), state.kept, step));
  EXPECT_ANY_THROW(rmspropUpdate(state.master, state.weights, wide, state.kept, step));
  EXPECT_ANY_THROW(rmspropUpdate(state.master, state.weights, gradient, {}, step));
  EXPECT_ANY_THROW(rmspropUpdate(state.master, state.weights, gradient, {state.kept.square, {}}, withMomentum));
}

// A step that an overflow skips, and the factors that lie on the device, which updates read when they run.
TEST(RmspropUpdate, ReadsItsFactorsWhenItRuns) {
  State state(100, at::kFloat, at::kCPU), expected(100, at::kFloat, at::kCPU);
  float overflow = 1, clip = 1;
  const float scale = 4;
  RmspropHyperparameters step = steps[1];
  step.scaled = {&scale, &overflow, nullptr}, step.clip = &clip;
  const auto there = prepared(step);
  const at::Tensor gradient = at::randn({100});
  rmspropUpdate(state.master, state.weights, gradient, state.kept, there);
  EXPECT_TRUE(at::equal(state.master, expected.master));
  EXPECT_EQ(state.kept.square.sum().item<float>(), 0);
  overflow = 0, clip = 0.25;
  rmspropUpdate(state.master, state.weights, gradient, state.kept, there);
  rmspropUpdateReference(expected.master, expected.weights, gradient / 16, expected.kept, steps[1]);
  EXPECT_LT(relativeError(state.master, expected.master), 1e-6);
}

}  // namespace
}  // namespace tandem
