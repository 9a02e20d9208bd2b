#include <cmath>

#include "base/error.h"
#include "kernels/loss/losses.h"
#include "kernels/numerical_gradient.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

using Case = std::tuple<int64_t, int64_t, at::ScalarType, double>;

class SoftmaxCrossEntropy : public testing::TestWithParam<Case> {};

TEST_P(SoftmaxCrossEntropy, EqualsTheReference) {
  const auto [rows, classes, type, smoothing] = GetParam();
  for (const at::Device device : testDevices()) {
    at::manual_seed(2);
    const at::Tensor logits = (5 * at::randn({rows, classes})).to(device, type);
    const at::Tensor labels = at::randint(classes, {rows}, at::kLong).to(device);
    for (const int64_t divisor : {rows, 4 * rows}) {
      const auto actual = softmaxCrossEntropy(logits, labels, smoothing, divisor);
      const auto expected = softmaxCrossEntropyReference(logits, labels, smoothing, divisor);
      EXPECT_EQ(actual.gradient.scalar_type(), type);
      EXPECT_EQ(actual.loss.scalar_type(), at::kFloat);
      EXPECT_EQ(actual.loss.dim(), 0);
      EXPECT_LT(relativeError(actual.loss, expected.loss), 1e-6) << device;
      // Softmax minus target may cancel: what fp32 can hold is relative to the softmax.
      const double size = at::softmax(logits.to(at::kDouble), 1).norm().item<double>() / static_cast<double>(divisor);
      const double difference = (actual.gradient - expected.gradient).norm().item<double>();
      EXPECT_LT(difference, toleranceOf(type) * size) << device;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, SoftmaxCrossEntropy,
                         testing::Combine(testing::Values(1, 7, 128), testing::Values(1, 2, 11, 1000, 1001),
                                          testing::Values(at::kFloat, at::kBFloat16, at::kHalf),
                                          testing::Values(0.0, 0.1)));

TEST(SoftmaxCrossEntropy, AgreesWithLibtorchsOwnLoss) {
  const at::Tensor logits = at::randn({9, 13}).requires_grad_();
  const at::Tensor labels = at::randint(13, {9}, at::kLong);
  const at::Tensor expected = at::cross_entropy_loss(logits, labels, {}, at::Reduction::Mean, -100, 0.2);
  expected.backward();
  const auto actual = softmaxCrossEntropy(logits.detach(), labels, 0.2, 9);
  EXPECT_LT(relativeError(actual.loss, expected.detach()), 1e-6);
  EXPECT_LT(relativeError(actual.gradient, logits.grad()), 1e-6);
}

TEST(SoftmaxCrossEntropy, SharesOfClassesAgreeWithLibtorchsOwnLoss) {
  for (const at::Device device : testDevices()) {
    const at::Tensor logits = at::randn({9, 13}, at::device(device)).requires_grad_();
    const at::Tensor shares = at::rand({9, 13}, at::device(device)).softmax(1);
    const at::Tensor expected = at::cross_entropy_loss(logits, shares, {}, at::Reduction::Mean, -100, 0.2);
    expected.backward();
    const auto actual = softmaxCrossEntropy(logits.detach(), shares, 0.2, 9);
    const auto reference = softmaxCrossEntropyReference(logits.detach(), shares, 0.2, 9);
    EXPECT_LT(relativeError(actual.loss, expected.detach()), 1e-6) << device;
    EXPECT_LT(relativeError(actual.gradient, logits.grad()), 1e-6) << device;
    EXPECT_LT(relativeError(actual.gradient, reference.gradient), 1e-6) << device;
  }
}

// libtorch divides by the sum of the labels' weights, and for shares by the number of rows.
TEST(SoftmaxCrossEntropy, WeightedClassesAgreeWithLibtorchsOwnLoss) {
  for (const at::Device device : testDevices()) {
    const at::Tensor weights = at::rand({13}, at::device(device)) + 0.1;
    const at::Tensor labels = at::randint(13, {9}, at::kLong).to(device);
    const at::Tensor shares = at::rand({9, 13}, at::device(device)).softmax(1);
    for (const at::Tensor& given : {labels, shares}) {
      const at::Tensor logits = at::randn({9, 13}, at::device(device)).requires_grad_();
      const at::Tensor own = given.dim() == 1 ? weights.index_select(0, labels).sum() / 9 : at::ones({}, device);
      const at::Tensor expected = at::cross_entropy_loss(logits, given, weights, at::Reduction::Mean, -100, 0.2) * own;
      expected.backward();
      const auto actual = softmaxCrossEntropy(logits.detach(), given, 0.2, 18, weights);
      const auto reference = softmaxCrossEntropyReference(logits.detach().to(at::kDouble), given, 0.2, 18, weights);
      EXPECT_LT(relativeError(actual.loss, expected.detach()), 1e-6) << device;
      EXPECT_LT(relativeError(actual.gradient, logits.grad() / 2), 2e-6) << device;
      EXPECT_LT(relativeError(reference.gradient, logits.grad() / 2), 2e-6) << device;
    }
  }
}

TEST(SoftmaxCrossEntropy, EqualWeightsOfClassesAreNone) {
  const at::Tensor logits = at::randn({5, 7}), labels = at::randint(7, {5}, at::kLong);
  const auto plain = softmaxCrossEntropy(logits, labels, 0.1, 5);
  const auto weighted = softmaxCrossEntropy(logits, labels, 0.1, 5, at::ones({7}));
  EXPECT_LT(relativeError(weighted.loss, plain.loss), 1e-6);
  EXPECT_LT(relativeError(weighted.gradient, plain.gradient), 1e-6);
  EXPECT_THROW(softmaxCrossEntropy(logits, at::full({5}, 7, at::kLong), 0.1, 5, at::ones({7})), DataError);
  EXPECT_THROW(softmaxCrossEntropy(logits, labels, 0.1, 5, at::ones({6})), InternalError);
}

TEST(SoftmaxCrossEntropy, OneHotSharesAreLabels) {
  const at::Tensor logits = at::randn({5, 7}), labels = at::randint(7, {5}, at::kLong);
  const at::Tensor oneHot = at::zeros({5, 7}).scatter_(1, labels.unsqueeze(1), 1.0);
  const auto byLabels = softmaxCrossEntropy(logits, labels, 0.1, 5);
  const auto byShares = softmaxCrossEntropy(logits, oneHot, 0.1, 5);
  EXPECT_LT(relativeError(byShares.loss, byLabels.loss), 1e-6);
  EXPECT_LT(relativeError(byShares.gradient, byLabels.gradient), 1e-6);
}

TEST(SoftmaxCrossEntropy, GradientAgreesWithTheNumericalOne) {
  at::manual_seed(3);
  const at::Tensor logits = at::randn({5, 7}), labels = at::randint(7, {5}, at::kLong);
  for (const double smoothing : {0.0, 0.1}) {
    const auto loss = [&](const at::Tensor& at) {
      return softmaxCrossEntropy(at, labels, smoothing, 5).loss.item<double>();
    };
    expectNumericalGradient(loss, logits, softmaxCrossEntropy(logits, labels, smoothing, 5).gradient);
  }
}

TEST(SoftmaxCrossEntropy, StridedLogitsAndLabelsAreReadWhereTheyLie) {
  for (const at::Device device : testDevices()) {
    const at::Tensor wide = at::randn({13, 2 * 9}).to(device), numbers = at::randint(13, {2 * 9}, at::kLong).to(device);
    const at::Tensor logits = wide.slice(1, 1, std::nullopt, 2).t(), labels = numbers.slice(0, 1, std::nullopt, 2);
    const auto actual = softmaxCrossEntropy(logits, labels, 0.1, 9);
    const auto dense = softmaxCrossEntropy(logits.contiguous(), labels.contiguous(), 0.1, 9);
    EXPECT_TRUE(actual.loss.equal(dense.loss)) << device;
    EXPECT_TRUE(actual.gradient.equal(dense.gradient)) << device;
  }
}

TEST(SoftmaxCrossEntropy, SurvivesHugeLogits) {
  for (const at::Device device : testDevices()) {
    const at::Tensor logits = at::tensor({1e30, -1e30, 0.0, 3e4, 0.0, 3e4}, at::kFloat).view({2, 3}).to(device);
    const auto result = softmaxCrossEntropy(logits, at::tensor({0, 0}, at::kLong).to(device), 0, 2);
    EXPECT_NEAR(result.loss.item<double>(), std::log(2.0) / 2, 1e-6) << device;
    EXPECT_TRUE(result.gradient.isfinite().all().item<bool>()) << device;
  }
}

TEST(SoftmaxCrossEntropy, PassesNanOn) {
  for (const at::Device device : testDevices()) {
    for (const int64_t where : {0, 2}) {
      at::Tensor logits = at::zeros({1, 3}, device);
      logits.select(1, where).fill_(std::nan(""));
      const auto result = softmaxCrossEntropy(logits, at::ones({1}, at::device(device).dtype(at::kLong)), 0, 1);
      EXPECT_TRUE(std::isnan(result.loss.item<double>())) << device;
      EXPECT_TRUE(result.gradient.isnan().all().item<bool>()) << device;
    }
  }
}

TEST(SoftmaxCrossEntropy, NamesALabelThatIsOutOfRange) {
  for (const int64_t bad : {-1, 5}) {
    try {
      softmaxCrossEntropy(at::zeros({3, 5}), at::tensor({0L, 4L, bad}, at::kLong), 0, 3);
      FAIL() << "accepted " << bad;
    } catch (const DataError& error) {
      EXPECT_EQ(std::string(error.what()),
                "label " + std::to_string(bad) +
                    " in row 2 of the batch: the network has 5 classes, so labels go from 0 to 4; check the data or "
                    "give --classes");
    }
  }
}

TEST(SoftmaxCrossEntropy, OnAGpuALabelOutOfRangeMakesTheLossNan) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "no GPU here";
  const at::Tensor labels = at::tensor({0L, 5L}, at::kLong).to(at::kCUDA);
  EXPECT_TRUE(std::isnan(softmaxCrossEntropy(at::zeros({2, 5}, at::kCUDA), labels, 0, 2).loss.item<double>()));
}

}  // namespace
}  // namespace tandem
