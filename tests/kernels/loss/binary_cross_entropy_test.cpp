#include <cmath>
#include <limits>

#include "base/error.h"
#include "kernels/loss/losses.h"
#include "kernels/numerical_gradient.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

/// max(x, 0) - x t + log(1 + exp(-|x|)), its mean and gradient in fp64, the gradient rounded to the
/// type of the logits.
LossAndGradient inDouble(const at::Tensor& logits, const at::Tensor& labels, double smoothing, int64_t divisor) {
  const at::Tensor x = logits.to(at::kDouble);
  const at::Tensor target = labels.to(at::kDouble) * (1 - smoothing) + smoothing / 2;
  const at::Tensor loss = (x.clamp_min(0) - x * target + x.abs().neg().exp().log1p()).mean();
  const at::Tensor gradient = (1 / (1 + x.neg().exp()) - target) / static_cast<double>(divisor * x.size(1));
  return {loss, gradient.to(logits.scalar_type())};
}

at::Tensor flagsFor(const at::Tensor& logits) { return at::randint(2, logits.sizes(), at::kByte).to(logits.device()); }

using Case = std::tuple<int64_t, int64_t, at::ScalarType, double>;

class BinaryCrossEntropy : public testing::TestWithParam<Case> {};

TEST_P(BinaryCrossEntropy, EqualsTheFormula) {
  const auto [rows, classes, type, smoothing] = GetParam();
  for (const at::Device device : testDevices()) {
    at::manual_seed(2);
    const at::Tensor logits = (5 * at::randn({rows, classes})).to(device, type), labels = flagsFor(logits);
    for (const int64_t divisor : {rows, 4 * rows}) {
      const auto actual = binaryCrossEntropy(logits, labels, smoothing, divisor);
      const auto expected = inDouble(logits, labels, smoothing, divisor);
      const at::Tensor exact = inDouble(logits.to(at::kDouble), labels, smoothing, divisor).gradient;
      const auto reference = binaryCrossEntropyReference(logits.to(at::kDouble), labels, smoothing, divisor);
      EXPECT_LT((reference.gradient - exact).norm().item<double>(), 1e-12) << device;
      EXPECT_EQ(actual.gradient.scalar_type(), type);
      EXPECT_EQ(actual.loss.scalar_type(), at::kFloat);
      EXPECT_EQ(actual.loss.dim(), 0);
      EXPECT_LT(relativeError(actual.loss, expected.loss), 1e-6) << device;
      // Sigmoid minus target may cancel: what fp32 can hold is relative to the sigmoid.
      const double size =
          logits.to(at::kDouble).sigmoid().norm().item<double>() / static_cast<double>(divisor * classes);
      const double difference = (actual.gradient - expected.gradient).norm().item<double>();
      EXPECT_LT(difference, toleranceOf(type) * size) << device;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, BinaryCrossEntropy,
                         testing::Combine(testing::Values(1, 7, 128), testing::Values(1, 2, 14, 1001),
                                          testing::Values(at::kFloat, at::kBFloat16, at::kHalf),
                                          testing::Values(0.0, 0.1)));

TEST(BinaryCrossEntropy, WeightedOutputsAgreeWithLibtorchsOwnLoss) {
  for (const at::Device device : testDevices()) {
    const at::Tensor weights = 3 * at::rand({14}, at::device(device)) + 0.1;
    for (const double smoothing : {0.0, 0.1}) {
      const at::Tensor logits = at::randn({9, 14}, at::device(device)), labels = flagsFor(logits);
      const at::Tensor leaf = logits.detach().clone().requires_grad_();
      const at::Tensor target = labels.to(at::kFloat) * (1 - smoothing) + smoothing / 2;
      const at::Tensor expected = at::binary_cross_entropy_with_logits(leaf, target, {}, weights);
      expected.backward();
      const auto actual = binaryCrossEntropy(logits, labels, smoothing, 18, weights);
      const auto reference = binaryCrossEntropyReference(logits.to(at::kDouble), labels, smoothing, 18, weights);
      EXPECT_LT(relativeError(actual.loss, expected.detach()), 1e-6) << device;
      EXPECT_LT(relativeError(actual.gradient, leaf.grad() / 2), 1e-6) << device;
      EXPECT_LT(relativeError(reference.gradient, leaf.grad() / 2), 1e-6) << device;
    }
  }
}

TEST(BinaryCrossEntropy, AgreesWithLibtorchsOwnLoss) {
  for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const at::Tensor logits = at::randn({9, 14}).to(type), labels = flagsFor(logits);
    const at::Tensor leaf = logits.to(at::kFloat).requires_grad_();
    const at::Tensor expected = at::binary_cross_entropy_with_logits(leaf, labels.to(at::kFloat));
    expected.backward();
    const auto actual = binaryCrossEntropy(logits, labels, 0, 9);
    EXPECT_LT(relativeError(actual.loss, expected.detach()), 1e-6);
    EXPECT_LT(relativeError(actual.gradient, leaf.grad().to(type)), toleranceOf(type));
  }
}

TEST(BinaryCrossEntropy, GradientAgreesWithTheNumericalOne) {
  at::manual_seed(3);
  const at::Tensor logits = at::randn({5, 7}), labels = flagsFor(logits);
  for (const double smoothing : {0.0, 0.1}) {
    const auto loss = [&](const at::Tensor& at) {
      return binaryCrossEntropy(at, labels, smoothing, 5).loss.item<double>();
    };
    expectNumericalGradient(loss, logits, binaryCrossEntropy(logits, labels, smoothing, 5).gradient);
  }
}

TEST(BinaryCrossEntropy, KeepsNoGraphOfLogitsThatNeedGradients) {
  const at::Tensor logits = at::randn({3, 4}).requires_grad_();
  const auto result = binaryCrossEntropy(logits, flagsFor(logits), 0, 3);
  EXPECT_FALSE(result.loss.requires_grad());
  EXPECT_FALSE(result.gradient.requires_grad());
}

TEST(BinaryCrossEntropy, SurvivesHugeLogitsAndPassesNanOn) {
  for (const at::Device device : testDevices()) {
    const at::Tensor logits = at::tensor({1e30, -1e30, 3e4, 0.0}, at::kFloat).view({1, 4}).to(device);
    const at::Tensor labels = at::tensor({1, 0, 1, 0}, at::kByte).view({1, 4}).to(device);
    const auto result = binaryCrossEntropy(logits, labels, 0, 1);
    EXPECT_NEAR(result.loss.item<double>(), std::log(2.0) / 4, 1e-6) << device;
    EXPECT_TRUE(result.gradient.isfinite().all().item<bool>()) << device;
    const auto broken = binaryCrossEntropy(at::full_like(logits, std::nan("")), labels, 0, 1);
    EXPECT_TRUE(std::isnan(broken.loss.item<double>())) << device;
    EXPECT_TRUE(broken.gradient.isnan().all().item<bool>()) << device;
  }
}

TEST(BinaryCrossEntropy, SharesTakeThePlaceOfLabels) {
  const at::Tensor logits = at::randn({4, 3}), one = at::randint(2, {4, 3}, at::kByte), other = 1 - one;
  const at::Tensor shares = one.to(at::kFloat) * 0.75 + other.to(at::kFloat) * 0.25;
  const auto mixed = binaryCrossEntropy(logits, shares, 0.1, 4);
  const auto first = binaryCrossEntropy(logits, one, 0.1, 4), second = binaryCrossEntropy(logits, other, 0.1, 4);
  EXPECT_LT(relativeError(mixed.loss, first.loss * 0.75 + second.loss * 0.25), 1e-6);
  EXPECT_LT(relativeError(mixed.gradient, first.gradient * 0.75 + second.gradient * 0.25), 1e-5);
  EXPECT_LT(relativeError(mixed.gradient, binaryCrossEntropyReference(logits, shares, 0.1, 4).gradient), 1e-6);
}

TEST(BinaryCrossEntropy, NamesALabelThatIsNeither) {
  at::Tensor labels = at::ones({3, 5}, at::kByte);
  labels[2][4] = 7;
  try {
    binaryCrossEntropy(at::zeros({3, 5}), labels, 0, 3);
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(),
                 "label 7 of output 4 in row 2 of the batch: with several classes per image each label is 0 or 1; "
                 "check the data");
  }
}

TEST(BinaryCrossEntropy, OnAGpuALabelThatIsNeitherMakesTheLossNan) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "no GPU here";
  const at::Tensor labels = at::full({2, 5}, 2, at::kByte).to(at::kCUDA);
  EXPECT_TRUE(std::isnan(binaryCrossEntropy(at::zeros({2, 5}, at::kCUDA), labels, 0, 2).loss.item<double>()));
}

}  // namespace
}  // namespace tandem
