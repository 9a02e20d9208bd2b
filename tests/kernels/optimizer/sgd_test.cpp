#include "kernels/optimizer/sgd.h"

#include <cmath>

#include "prepared.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

struct State {
  at::Tensor master, weights, velocity;
  State(int64_t count, at::ScalarType type, at::Device device) {
    at::manual_seed(3);
    master = at::randn({count}).to(device);
    weights = type == at::kFloat ? master : master.to(type);
    velocity = at::zeros({count}, device);
  }
};

const SgdHyperparameters steps[] = {
    {0.1F, 0, 0, 1, false},        {0.1F, 0, 1e-2F, 0.5F, false},    {0.1F, 0.9F, 0, 1, false},
    {0.1F, 0.9F, 1e-2F, 1, false}, {0.1F, 0.9F, 1e-2F, 0.25F, true}, {0.01F, 0.5F, 0, 1, true},
};

using Case = std::tuple<int64_t, at::ScalarType, at::ScalarType, int>;

class SgdUpdate : public testing::TestWithParam<Case> {};

TEST_P(SgdUpdate, EqualsTheReferenceOverFiveSteps) {
  const auto [count, weightType, gradientType, rule] = GetParam();
  const SgdHyperparameters step = steps[rule];
  for (const at::Device device : testDevices()) {
    State actual(count, weightType, device), expected(count, weightType, device);
    for (int i = 0; i < 5; ++i) {
      const at::Tensor gradient = at::randn({count}).to(device, gradientType);
      sgdUpdate(actual.master, actual.weights, gradient, actual.velocity, prepared(step, device));
      sgdUpdateReference(expected.master, expected.weights, gradient, expected.velocity, step);
    }
    EXPECT_LT(relativeError(actual.master, expected.master), 1e-6) << device;
    EXPECT_LT(relativeError(actual.velocity, expected.velocity), 1e-6) << device;
    EXPECT_TRUE(at::equal(actual.weights, actual.master.to(weightType))) << "rounded to nearest even, " << device;
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, SgdUpdate,
                         testing::Combine(testing::Values(1, 31, 1000, 100003),
                                          testing::Values(at::kFloat, at::kBFloat16, at::kHalf),
                                          testing::Values(at::kFloat, at::kBFloat16, at::kHalf), testing::Range(0, 6)));

// Slices begin anywhere in the flat buffers, and what lies beside them is not theirs.
TEST(SgdUpdate, UpdatesASliceAndNothingBesideIt) {
  for (const at::Device device : testDevices()) {
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
      State whole(1000, type, device), before(1000, type, device);
      const at::Tensor gradient = at::randn({1000}).to(device, type);
      State slice = whole, expected = before;
      const auto cut = [](const at::Tensor& t) { return t.narrow(0, 3, 501); };
      for (State* state : {&slice, &expected}) {
        state->master = cut(state->master), state->weights = cut(state->weights),
        state->velocity = cut(state->velocity);
      }
      sgdUpdate(slice.master, slice.weights, cut(gradient), slice.velocity, prepared(steps[4], device));
      sgdUpdateReference(expected.master, expected.weights, cut(gradient), expected.velocity, steps[4]);
      EXPECT_LT(relativeError(whole.master, before.master), 1e-6) << device;
      EXPECT_LT(relativeError(whole.velocity, before.velocity), 1e-6) << device;
      EXPECT_TRUE(at::equal(whole.weights, whole.master.to(type))) << device;
    }
  }
}

TEST(SgdUpdate, NeedsNoVelocityWithoutMomentum) {
  State state(10, at::kFloat, at::kCPU);
  at::Tensor none;
  const at::Tensor before = state.master.clone(), gradient = at::ones({10});
  sgdUpdate(state.master, state.weights, gradient, none, prepared(SgdHyperparameters{0.5F, 0, 0, 1, false}));
  EXPECT_LT(relativeError(state.master, before - 0.5), 1e-6);
}

// What clips the gradient does not touch the decay; the trust ratio is of both.
TEST(SgdUpdate, ReadsItsFactorsWhenItRuns) {
  for (const at::Device device : testDevices()) {
    State state(1000, at::kFloat, device), expected(1000, at::kFloat, device);
    at::Tensor clip = at::ones({}, device), trust = at::ones({}, device);
    SgdHyperparameters step = steps[4];
    step.clip = clip.const_data_ptr<float>();
    const auto there = prepared(step, device);
    const at::Tensor gradient = at::randn({1000}).to(device);
    clip.fill_(0.25), trust.fill_(0.5);
    sgdUpdate(state.master, state.weights, gradient, state.velocity, there, trust);
    SgdHyperparameters both = steps[4];
    both.weightDecay *= 0.5F;
    sgdUpdateReference(expected.master, expected.weights, gradient / 8, expected.velocity, both);
    EXPECT_LT(relativeError(state.master, expected.master), 1e-6) << device;
  }
}

TEST(SgdUpdate, WritesWeightsOfAnyTypeApartFromMaster) {
  State state(100, at::kFloat, at::kCPU);
  at::Tensor apart = at::zeros({100});
  sgdUpdate(state.master, apart, at::randn({100}), state.velocity,
            prepared(SgdHyperparameters{0.1F, 0.9F, 0, 1, false}));
  EXPECT_TRUE(at::equal(apart, state.master));
}

TEST(SgdUpdate, KeepsNanAndInfinityInBfloat16) {
  for (const at::Device device : testDevices()) {
    State state(3, at::kBFloat16, device);
    const float huge = std::numeric_limits<float>::infinity();
    const at::Tensor gradient = at::tensor({std::nanf(""), huge, -huge}).to(device);
    sgdUpdate(state.master, state.weights, gradient, state.velocity,
              prepared(SgdHyperparameters{1, 0, 0, 1, false}, device));
    const at::Tensor weights = state.weights.to(at::kCPU, at::kFloat);
    EXPECT_TRUE(std::isnan(weights[0].item<float>())) << device;
    EXPECT_EQ(weights[1].item<float>(), -huge) << device;
    EXPECT_EQ(weights[2].item<float>(), huge) << device;
  }
}

bool equalOrNan(const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor both = actual.isnan().logical_and(expected.isnan());
  return actual.eq(expected).logical_or(both).all().item<bool>();
}

TEST(SgdUpdate, RoundsEveryBitPatternLikeLibtorch) {
  const at::Tensor bits = at::arange(-(1L << 31), 1L << 31, 65521 / 4, at::kLong).to(at::kInt);
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    at::Tensor master = bits.view(at::kFloat).clone();
    at::Tensor weights = at::empty(master.sizes(), type), none;
    sgdUpdate(master, weights, at::zeros(master.sizes()), none, prepared(SgdHyperparameters{0, 0, 0, 0, false}));
    EXPECT_TRUE(equalOrNan(weights, bits.view(at::kFloat).to(type))) << type;
  }
}

TEST(SgdUpdate, ReadsEveryBitPatternLikeLibtorch) {
  const at::Tensor bits = at::arange(-(1 << 15), 1 << 15, at::kLong).to(at::kShort);
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    const at::Tensor gradient = bits.view(type);
    at::Tensor master = at::zeros(gradient.sizes()), weights = master, none;
    sgdUpdate(master, weights, gradient, none, prepared(SgdHyperparameters{-1, 0, 0, 1, false}));
    EXPECT_TRUE(equalOrNan(master, gradient.to(at::kFloat))) << type;
  }
}

TEST(SgdUpdate, RefusesTensorsThatDoNotFit) {
  State state(10, at::kFloat, at::kCPU);
  at::Tensor none;
  const auto step = prepared(SgdHyperparameters{}), withMomentum = prepared(SgdHyperparameters{.momentum = 0.9F});
  EXPECT_NO_THROW(sgdUpdate(state.master, state.weights, at::zeros({10}), state.velocity, step));
  EXPECT_ANY_THROW(sgdUpdate(state.master, state.weights, at::zeros({9}), state.velocity, step));
  EXPECT_ANY_THROW(sgdUpdate(state.master, state.weights, at::zeros({10}, at::kDouble), state.velocity, step));
  EXPECT_ANY_THROW(sgdUpdate(state.master, state.weights, at::zeros({20}).slice(0, 0, 20, 2), state.velocity, step));
  EXPECT_ANY_THROW(sgdUpdate(state.master, state.weights, at::zeros({10}), none, withMomentum));
  for (const at::Tensor& trust : {at::ones({2}), at::ones({1}, at::kDouble)}) {
    EXPECT_ANY_THROW(sgdUpdate(state.master, state.weights, at::zeros({10}), state.velocity, step, trust));
  }
}

}  // namespace
}  // namespace tandem
