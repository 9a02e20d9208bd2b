#include <array>
#include <cmath>

#include "base/error.h"
#include "kernels/loss/losses.h"
#include "kernels/numerical_gradient.h"
#include "support/test_devices.h"

namespace tandem {
namespace {

/// timm's BinaryCrossEntropy written out in fp64: targets element by element, max(x, 0) - x t + log(1 + exp(-|x|)).
/// `shares` [N, K], on the CPU.
LossAndGradient inDouble(const at::Tensor& logits, const at::Tensor& shares, double smoothing, double threshold,
                         double divisor) {
  const at::Tensor x = logits.to(at::kCPU, at::kDouble), gradient = at::empty_like(x);
  const auto values = x.accessor<double, 2>();
  const auto given = shares.accessor<float, 2>();
  const auto classes = static_cast<double>(x.size(1));
  double sum = 0;
  for (int64_t row = 0; row < x.size(0); ++row) {
    for (int64_t k = 0; k < x.size(1); ++k) {
      const double value = values[row][k];
      double target = given[row][k] * (1 - smoothing) + smoothing / classes;
      if (threshold < 1) target = target > threshold ? 1 : 0;
      sum += std::max(value, 0.0) - value * target + std::log1p(std::exp(-std::abs(value)));
      gradient[row][k] = (1 / (1 + std::exp(-value)) - target) / (divisor * classes);
    }
  }
  return {at::full({}, sum / static_cast<double>(x.numel()), at::kDouble), gradient};
}

at::Tensor oneHotOf(const at::Tensor& labels, int64_t classes) {
  return labels.unsqueeze(1).eq(at::arange(classes)).to(at::kFloat);
}

void expectAsWrittenOut(const at::Tensor& logits, const at::Tensor& labels, const at::Tensor& shares, double smoothing,
                        double threshold) {
  const at::ScalarType type = logits.scalar_type();
  for (const int64_t divisor : {logits.size(0), 4 * logits.size(0)}) {
    const auto count = static_cast<double>(divisor);
    const auto actual = oneHotBinaryCrossEntropy(logits, labels, smoothing, count, threshold);
    const auto expected = inDouble(logits, shares, smoothing, threshold, count);
    const at::Tensor wide = logits.to(at::kDouble);
    const auto oracle = oneHotBinaryCrossEntropyReference(wide, labels, smoothing, count, threshold);
    const at::Tensor gradient = actual.gradient.to(at::kCPU, at::kDouble);
    EXPECT_EQ(actual.gradient.scalar_type(), type);
    EXPECT_EQ(actual.loss.scalar_type(), at::kFloat);
    EXPECT_EQ(actual.loss.dim(), 0);
    EXPECT_LT((oracle.gradient.cpu() - expected.gradient).norm().item<double>(), 1e-12);
    EXPECT_LT(relativeError(actual.loss.cpu(), expected.loss), 1e-6);
    // Sigmoid minus target may cancel: what fp32 can hold is relative to the sigmoid.
    const double size = wide.sigmoid().norm().item<double>() / (count * static_cast<double>(logits.size(1)));
    const at::Tensor rounded = expected.gradient.to(type).to(at::kDouble);
    EXPECT_LT((gradient - rounded).norm().item<double>(), toleranceOf(type) * size);
  }
}

using Case = std::tuple<int64_t, at::ScalarType, double, double>;

class OneHotBinaryCrossEntropy : public testing::TestWithParam<Case> {};

TEST_P(OneHotBinaryCrossEntropy, EqualsTheFormulaOfTimm) {
  const auto [classes, type, smoothing, threshold] = GetParam();
  for (const at::Device device : testDevices()) {
    at::manual_seed(2);
    const at::Tensor logits = (5 * at::randn({8, classes})).to(device, type);
    const at::Tensor labels = at::randint(classes, {8}, at::kLong), oneHot = oneHotOf(labels, classes);
    const at::Tensor share = at::linspace(0, 1, 8).unsqueeze(1), mixed = oneHot * share + oneHot.flip(0) * (1 - share);
    expectAsWrittenOut(logits, labels.to(device), oneHot, smoothing, threshold);
    expectAsWrittenOut(logits, mixed.to(device), mixed, smoothing, threshold);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, OneHotBinaryCrossEntropy,
                         testing::Combine(testing::Values(2, 11, 1001),
                                          testing::Values(at::kFloat, at::kBFloat16, at::kHalf),
                                          testing::Values(0.0, 0.1), testing::Values(0.0, 0.2, 0.5, 1.0)));

/// What timm 1.0.31 computes of these logits: its BinaryCrossEntropy, and mixup_target() with a share of 0.7.
struct Published {
  const char* name;
  bool mixed;
  double smoothing, threshold, loss;
  std::array<double, 6> gradient;
};

class PublishedBinaryCrossEntropy : public testing::TestWithParam<Published> {};

TEST_P(PublishedBinaryCrossEntropy, IsThatOfTimm) {
  const Published& timm = GetParam();
  const at::Tensor logits = at::tensor({1.5, -0.25, 0.75, -2.0, 0.5, 3.0}, at::kFloat).view({2, 3});
  const at::Tensor labels = at::tensor({2, 0}, at::kLong), oneHot = oneHotOf(labels, 3);
  const at::Tensor given = timm.mixed ? oneHot * 0.7 + oneHot.flip(0) * 0.3 : labels;
  const auto actual = oneHotBinaryCrossEntropy(logits, given, timm.smoothing, 2, timm.threshold);
  EXPECT_NEAR(actual.loss.item<double>(), timm.loss, 3e-7);
  for (int64_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(actual.gradient.view({-1})[i].item<double>(), timm.gradient[static_cast<size_t>(i)], 3e-8) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Numbers, PublishedBinaryCrossEntropy,
    testing::Values(
        Published{"plain",
                  false,
                  0,
                  1,
                  1.4689693418,
                  {0.136262412699, 0.0729705831857, -0.0534702168041, -0.146799512996, 0.103743221867, 0.15876235447}},
        Published{"smoothed",
                  false,
                  0.1,
                  1,
                  1.42869156402,
                  {0.130706857143, 0.0674150276301, -0.042359105693, -0.135688401885, 0.0981876663114, 0.153206798915}},
        Published{"threshold",
                  false,
                  0.1,
                  0.2,
                  1.4689693418,
                  {0.136262412699, 0.0729705831857, -0.0534702168041, -0.146799512996, 0.103743221867, 0.15876235447}},
        Published{
            "mixed",
            true,
            0.1,
            1,
            1.16994154977,
            {0.0857068556864, 0.0674150273404, 0.00264090039993, -0.0906883957923, 0.0981876660217, 0.108206797458}},
        Published{
            "mixed_threshold",
            true,
            0.1,
            0.2,
            0.718969341796,
            {-0.0304042539677, 0.0729705831857, -0.0534702168041, -0.146799512996, 0.103743221867, -0.00790431219626}},
        Published{"mixed_high_threshold",
                  true,
                  0.1,
                  0.5,
                  1.4689693418,
                  {0.136262412699, 0.0729705831857, -0.0534702168041, -0.146799512996, 0.103743221867, 0.15876235447}}),
    [](const auto& tested) { return tested.param.name; });

TEST(OneHotBinaryCrossEntropy, WeightedClassesAreLibtorchsPositiveWeights) {
  for (const at::Device device : testDevices()) {
    const at::Tensor weights = 3 * at::rand({7}, at::device(device)) + 0.1;
    const at::Tensor logits = at::randn({5, 7}, at::device(device)), labels = at::randint(7, {5}, at::kLong);
    const at::Tensor leaf = logits.detach().clone().requires_grad_();
    const at::Tensor target = (oneHotOf(labels, 7) * 0.9 + 0.1 / 7).to(device);
    const at::Tensor expected = at::binary_cross_entropy_with_logits(leaf, target, {}, weights);
    expected.backward();
    const auto actual = oneHotBinaryCrossEntropy(logits, labels.to(device), 0.1, 10, 1, weights);
    EXPECT_LT(relativeError(actual.loss, expected.detach()), 1e-6) << device;
    EXPECT_LT(relativeError(actual.gradient, leaf.grad() / 2), 1e-6) << device;
  }
}

TEST(OneHotBinaryCrossEntropy, GradientAgreesWithTheNumericalOne) {
  at::manual_seed(3);
  const at::Tensor logits = at::randn({5, 7}), labels = at::randint(7, {5}, at::kLong);
  for (const double threshold : {0.2, 1.0}) {
    const auto loss = [&](const at::Tensor& at) {
      return oneHotBinaryCrossEntropy(at, labels, 0.1, 5, threshold).loss.item<double>();
    };
    expectNumericalGradient(loss, logits, oneHotBinaryCrossEntropy(logits, labels, 0.1, 5, threshold).gradient);
  }
}

TEST(OneHotBinaryCrossEntropy, NamesALabelThatIsNoClass) {
  const at::Tensor labels = at::tensor({0, 4, 5}, at::kLong);
  try {
    oneHotBinaryCrossEntropy(at::zeros({3, 5}), labels, 0, 3, 1);
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_STREQ(
        error.what(),
        "label 5 in row 2 of the batch: the network has 5 classes, so labels go from 0 to 4; check the data or "
        "give --classes");
  }
}

TEST(OneHotBinaryCrossEntropy, OnAGpuALabelThatIsNoClassMakesTheLossNan) {
  if (cudaDeviceCount() == 0) GTEST_SKIP() << "no GPU here";
  const at::Tensor labels = at::tensor({0, 5}, at::kLong).to(at::kCUDA), logits = at::zeros({2, 5}, at::kCUDA);
  for (const double threshold : {0.2, 1.0}) {
    EXPECT_TRUE(std::isnan(oneHotBinaryCrossEntropy(logits, labels, 0, 2, threshold).loss.item<double>()));
  }
}

TEST(OneHotBinaryCrossEntropy, SharesThatAreNotANumberMakeTheLossNan) {
  const at::Tensor shares = at::full({2, 5}, std::nan(""));
  EXPECT_TRUE(std::isnan(oneHotBinaryCrossEntropy(at::zeros({2, 5}), shares, 0, 2, 0.2).loss.item<double>()));
}

}  // namespace
}  // namespace tandem
