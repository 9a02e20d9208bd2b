#include "kernels/conv/convolution.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/text.h"
#include "kernels/conv/algorithms.h"
#include "kernels/conv/convolution_case.h"
#include "kernels/conv/nchwc.h"
#include "kernels/numerical_gradient.h"
#include "support/relative_error.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;

class ConvolutionKernel : public testing::TestWithParam<Case> {
 protected:
  ConvolutionKernel() : layer_(GetParam().layer), type_(GetParam().type) {
    at::manual_seed(5);
    x_ = random(layer_.x());
    dy_ = random(layer_.y());
    weight_ = random(layer_.weight());
    if (layer_.bias) bias_ = at::randn({layer_.outputs}).to(type_);
  }

  void SetUp() override {
    if (convolutionLibrary().empty()) GTEST_SKIP() << "a build without oneDNN";
  }

  at::Tensor random(at::IntArrayRef shape) const { return at::randn(shape).to(type_).contiguous(channelsLast); }

  Results byKernel() const {
    const Case& c = GetParam();
    const at::Tensor weight = c.held(weight_);
    Results r{{}, {}, at::empty_like(weight), layer_.bias ? at::empty_like(bias_) : at::Tensor()};
    const PassAlgorithms all{c.algorithm, c.algorithm, c.algorithm};
    const auto kernel = makeConvolution(c.geometry(), {weight, bias_, r.weight, r.bias}, all);
    const at::Tensor x = c.blocksInput() ? toBlocked(x_) : x_, dy = c.blocksOutput() ? toBlocked(dy_) : dy_;
    const auto plain = [&](const at::Tensor& t, bool is) { return is ? fromBlocked(t, layer_.images) : t; };
    r.y = plain(kernel->forward(x), c.blocksOutput());
    kernel->backwardParameters(x, dy);
    r.x = plain(kernel->backwardInput(x, dy), c.blocksInput());
    r.weight = r.weight.reshape(weight_.sizes());
    return r;
  }

  void expectSlopes(at::Tensor& input, const at::Tensor& gradient) {
    const at::Tensor own = input;
    const auto f = [&](const at::Tensor& value) {
      input = value;
      return weighted(dy_, byKernel().y);
    };
    expectNumericalGradient(f, own, gradient);
    input = own;
  }

  Layer layer_;
  at::ScalarType type_;
  at::Tensor x_, dy_, weight_, bias_;
};

/// In fp32 only: rounding to bf16 hides slopes.
class ConvolutionSlopes : public ConvolutionKernel {};

// fp32: 1e-5 of the norm. Winograd's transforms add values up to 8 times as large as those that remain of them: its
// error is allowed to be twice that; 4e-6 is what 512 channels give. bf16: products are summed in fp32 and each result
// is rounded once, to 2^-9 of itself.
TEST_P(ConvolutionKernel, EqualsAtenInDoublePrecision) {
  const auto& [layer, type, order, algorithm] = GetParam();
  const Results actual = byKernel(), expected = exactResults(layer, {x_, weight_, bias_, dy_});
  const double bound = type == at::kBFloat16 ? 0x1p-9 : algorithm->name == "winograd" ? 2e-5 : 1e-5;
  EXPECT_LE(relativeError(actual.y, expected.y), bound);
  EXPECT_LE(relativeError(actual.x, expected.x), bound);
  EXPECT_LE(relativeError(actual.weight, expected.weight), bound);
  if (layer_.bias) {
    EXPECT_LE(relativeError(actual.bias, expected.bias), bound);
  }
}

// y is linear in each of x, weight and bias, so a difference has no error but rounding.
TEST_P(ConvolutionSlopes, GradientsAgreeWithTheNumericalOnes) {
  const Results gradients = byKernel();
  expectSlopes(x_, gradients.x);
  expectSlopes(weight_, gradients.weight);
  if (layer_.bias) expectSlopes(bias_, gradients.bias);
}

std::string nameOf(const testing::TestParamInfo<Case>& row) {
  const auto& [layer, type, order, algorithm] = row.param;
  return concat(layer.name, type == at::kFloat ? "_fp32" : "_bf16", order == Order::blocked ? "_blocked" : "_plain",
                '_', algorithm->name);
}

constexpr Layer layers[] = {
    {"stem", 2, 3, 32, 31, 29, 7, 7, {2, 2, 3, 3, 3, 3, 1}, false},
    {"plain3x3", 3, 32, 48, 9, 11, 3, 3, {1, 1, 1, 1, 1, 1, 1}, true},
    {"manyTiles", 5, 64, 80, 30, 17, 3, 3, {1, 1, 1, 1, 1, 1, 1}, false},
    {"manyChannels", 1, 512, 128, 5, 4, 3, 3, {1, 1, 1, 1, 1, 1, 1}, false},
    {"unequal3x3", 2, 16, 16, 9, 7, 3, 3, {1, 1, 0, 1, 2, 0, 1}, true},
    {"onePixel3x3", 2, 32, 16, 1, 1, 3, 3, {1, 1, 1, 1, 1, 1, 1}, false},
    {"strided", 2, 48, 32, 13, 12, 3, 3, {2, 2, 1, 1, 1, 1, 1}, false},
    {"unequalPadding", 2, 32, 32, 12, 12, 3, 3, {2, 2, 0, 1, 0, 1, 1}, true},
    {"pointwise", 1, 64, 32, 7, 7, 1, 1, {1, 1, 0, 0, 0, 0, 1}, false},
    {"widePointwise", 3, 272, 80, 5, 7, 1, 1, {1, 1, 0, 0, 0, 0, 1}, false},
    {"stridedPointwise", 5, 32, 64, 9, 8, 1, 1, {2, 2, 0, 0, 0, 0, 1}, false},
    {"fewChannelsStrided", 8, 4, 16, 12, 12, 1, 1, {2, 2, 0, 0, 0, 0, 1}, false},
    {"grouped", 2, 64, 64, 6, 6, 3, 3, {1, 1, 1, 1, 1, 1, 2}, true},
    {"oddChannels", 2, 5, 7, 6, 5, 3, 1, {1, 1, 1, 1, 0, 0, 1}, true},
    {"depthwise", 1, 6, 6, 5, 7, 3, 3, {1, 1, 1, 1, 1, 1, 6}, false},
    {"oneChannel", 1, 1, 1, 5, 7, 3, 3, {1, 1, 1, 1, 1, 1, 1}, true},
    {"onePixel", 4, 32, 16, 1, 1, 1, 1, {1, 1, 0, 0, 0, 0, 1}, true},
    {"depthwise3x3", 2, 48, 48, 14, 23, 3, 3, {1, 1, 1, 1, 1, 1, 48}, false},
    {"depthwise3x3Strided", 2, 32, 32, 19, 24, 3, 3, {2, 2, 1, 1, 1, 1, 32}, true},
    {"depthwise3x3StridedUnequal", 2, 16, 16, 12, 16, 3, 3, {2, 2, 0, 1, 0, 1, 16}, false},
    {"depthwise5x5", 3, 32, 32, 9, 15, 5, 5, {1, 1, 2, 2, 2, 2, 32}, false},
    {"depthwise5x5Strided", 2, 16, 16, 28, 18, 5, 5, {2, 2, 2, 2, 2, 2, 16}, false},
    {"depthwise7x7", 2, 64, 64, 10, 22, 7, 7, {1, 1, 3, 3, 3, 3, 64}, true},
    {"depthwise7x7Strided", 2, 16, 16, 15, 30, 7, 7, {2, 2, 3, 3, 3, 3, 16}, false},
    {"depthwiseSmallerThanItsFilter", 2, 32, 32, 2, 3, 5, 5, {1, 1, 2, 2, 2, 2, 32}, false},
    {"depthwiseUnequal", 1, 16, 16, 12, 8, 1, 5, {1, 1, 0, 0, 1, 3, 16}, true},
};

/// Every pair of a layer and an algorithm that serves it, in both orders of memory where channels come in blocks; and
/// the first layer that an algorithm does not serve, where `direct` must replace it.
std::vector<Case> casesOf(std::initializer_list<at::ScalarType> types) {
  std::vector<Case> cases;
  for (const ConvolutionAlgorithm& algorithm : convolutionAlgorithms()) {
    bool replaced = false;
    for (const Layer& layer : layers) {
      for (const at::ScalarType type : types) {
        for (const Order order : {Order::plain, Order::blocked}) {
          const Case c{layer, type, order, &algorithm};
          if (order == Order::blocked && !c.blocksOutput()) continue;
          const bool served = c.isServed();
          if (served || !replaced) cases.push_back(c);
          replaced = replaced || !served;
        }
      }
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Layers, ConvolutionKernel, testing::ValuesIn(casesOf({at::kFloat, at::kBFloat16})), nameOf);
INSTANTIATE_TEST_SUITE_P(Layers, ConvolutionSlopes, testing::ValuesIn(casesOf({at::kFloat})), nameOf);

TEST(ConvolutionCases, EveryAlgorithmServesSomeLayer) {
  if (convolutionLibrary().empty()) GTEST_SKIP() << "a build without oneDNN";
  std::set<std::tuple<std::string_view, at::ScalarType, Order>> served;
  for (const Case& c : casesOf({at::kFloat, at::kBFloat16})) {
    if (c.isServed()) served.emplace(c.algorithm->name, c.type, c.order);
  }
  for (const ConvolutionAlgorithm& algorithm : convolutionAlgorithms()) {
    EXPECT_TRUE(served.contains({algorithm.name, at::kFloat, Order::plain})) << algorithm.name;
  }
  EXPECT_TRUE(served.contains({"direct", at::kBFloat16, Order::blocked}));
  EXPECT_TRUE(served.contains({"winograd", at::kFloat, Order::blocked}));
  EXPECT_TRUE(served.contains({"pointwise", at::kFloat, Order::blocked}));
  EXPECT_TRUE(served.contains({"depthwise", at::kBFloat16, Order::blocked}));
}

TEST(ConvolutionShapes, ASecondShapeIsServedToo) {
  if (convolutionLibrary().empty()) GTEST_SKIP() << "a build without oneDNN";
  at::manual_seed(1);
  const at::Tensor weight = at::randn({8, 4, 3, 3}).contiguous(channelsLast);
  const auto kernel = makeConvolution({1, 1, 1, 1, 1, 1, 1}, {weight, {}, at::empty_like(weight), {}});
  for (const int64_t images : {3, 1, 3}) {
    const at::Tensor x = at::randn({images, 4, 5, 6}).contiguous(channelsLast);
    EXPECT_LE(relativeError(kernel->forward(x), at::conv2d(x, weight, {}, 1, 1)), 1e-5);
  }
}

// Whoever takes sums takes those of what it writes; most take none.
TEST(ConvolutionSums, AreThoseOfTheOutputOrUndefined) {
  if (convolutionLibrary().empty()) GTEST_SKIP() << "a build without oneDNN";
  at::manual_seed(1);
  const at::Tensor weight = at::randn({32, 16, 3, 3}).contiguous(channelsLast), bias = at::randn({32});
  const at::Tensor x = at::randn({3, 16, 9, 7}).contiguous(channelsLast) + 0.5;
  const at::Tensor right = at::conv2d(x.to(at::kDouble), weight.to(at::kDouble), bias.to(at::kDouble), 1, 1);
  const auto [variance, mean] = at::var_mean(right, {0, 2, 3}, /*unbiased=*/false);
  constexpr double bound = 2e-5;  // Winograd's, as above
  for (const ConvolutionAlgorithm& algorithm : convolutionAlgorithms()) {
    for (const bool blocked : {false, true}) {
      SCOPED_TRACE(concat(algorithm.name, blocked ? ", blocked" : ""));
      const auto kernel =
          makeConvolution({1, 1, 1, 1, 1, 1, 1, blocked}, {weight, bias, at::empty_like(weight), at::empty_like(bias)},
                          {&algorithm, &algorithm, &algorithm});
      ASSERT_NE(kernel, nullptr);
      ChannelStats sums{at::ones({1}), at::ones({1})};
      const at::Tensor y = kernel->forwardWithStats(x, sums);
      EXPECT_LE(relativeError(blocked ? fromBlocked(y, x.size(0)) : y, right), bound);
      if (!sums.defined()) continue;
      const ChannelMoments found = momentsOf(sums, right.numel() / right.size(1));
      EXPECT_LE(relativeError(found.mean, mean), bound);
      EXPECT_LE(relativeError(found.variance, variance), bound);
    }
  }
}

TEST(ConvolutionShapes, NoKernelForDoublePrecision) {
  const at::Tensor weight = at::randn({8, 4, 3, 3}, at::kDouble).contiguous(channelsLast);
  EXPECT_EQ(makeConvolution({}, {weight, {}, at::empty_like(weight), {}}), nullptr);
}

TEST(Gemm, ServesAnotherShapeToo) {
  if (convolutionLibrary().empty()) GTEST_SKIP() << "a build without oneDNN";
  at::manual_seed(1);
  const at::Tensor weight = at::randn({8, 4, 3, 3}).contiguous(channelsLast), gradient = at::empty_like(weight);
  const auto kernel = makeGemmConvolution({1, 1, 1, 1, 1, 1, 1}, {weight, {}, gradient, {}});
  for (const int64_t images : {3, 1, 3}) {
    const at::Tensor x = at::randn({images, 4, 5, 6}).contiguous(channelsLast);
    const at::Tensor dy = at::randn({images, 8, 5, 6}).contiguous(channelsLast);
    kernel->backwardParameters(x, dy);
    const auto expected = at::convolution_backward(dy, x, weight, std::nullopt, {1, 1}, {1, 1}, {1, 1}, false, {0, 0},
                                                   1, {false, true, false});
    EXPECT_LE(relativeError(gradient, std::get<1>(expected)), 1e-5);
  }
}

TEST(Widened, IsTheFp32ConvolutionRoundedOnce) {
  if (convolutionLibrary().empty()) GTEST_SKIP() << "a build without oneDNN";
  at::manual_seed(3);
  const auto random = [](at::IntArrayRef shape) { return at::randn(shape, at::kBFloat16).contiguous(channelsLast); };
  const auto wide = [](const at::Tensor& t) { return t.to(at::kFloat); };
  const at::Tensor weight = random({8, 16, 3, 3}), x = random({2, 16, 5, 6}), dy = random({2, 8, 5, 6});
  const at::Tensor bias = at::randn({8}, at::kBFloat16), gradient = at::empty_like(weight),
                   biasGradient = at::empty_like(bias);
  const ConvolutionGeometry same{1, 1, 1, 1, 1, 1, 1};
  const auto kernel = makeWidenedConvolution(same, {weight, bias, gradient, biasGradient}, makeDirectConvolution);
  for (int step = 0; step < 2; ++step) {
    const ConvolutionParameters exact{wide(weight), wide(bias), wide(gradient), wide(biasGradient)};
    const auto oracle = makeDirectConvolution(same, exact);
    kernel->weightsChanged();
    EXPECT_TRUE(kernel->forward(x).equal(oracle->forward(wide(x)).to(at::kBFloat16)));
    EXPECT_TRUE(kernel->backwardInput(x, dy).equal(oracle->backwardInput(wide(x), wide(dy)).to(at::kBFloat16)));
    kernel->backwardParameters(x, dy);
    oracle->backwardParameters(wide(x), wide(dy));
    EXPECT_TRUE(gradient.equal(exact.weightGradient.to(at::kBFloat16)));
    EXPECT_TRUE(biasGradient.equal(exact.biasGradient.to(at::kBFloat16)));
    at::Tensor(weight).mul_(3);
  }
}

TEST(Depthwise, SeesThatWeightsHaveChanged) {
  const at::Tensor weight = at::ones({16, 1, 3, 3}).contiguous(channelsLast), x = at::ones({1, 16, 4, 4});
  const at::Tensor input = x.contiguous(channelsLast);
  const auto kernel = makeDepthwiseConvolution({1, 1, 1, 1, 1, 1, 16}, {weight, {}, at::empty_like(weight), {}});
  const at::Tensor before = kernel->forward(input), slope = kernel->backwardInput(input, input);
  at::Tensor(weight).mul_(2);
  EXPECT_TRUE(kernel->forward(input).equal(before));
  kernel->weightsChanged();
  EXPECT_TRUE(kernel->forward(input).equal(before * 2));
  EXPECT_TRUE(kernel->backwardInput(input, input).equal(slope * 2));
}

struct AlgorithmAndSize {
  const ConvolutionAlgorithm* algorithm;
  int64_t size;  // of the weight, in each direction
  int64_t groups = 1;
};

class Threads : public testing::TestWithParam<AlgorithmAndSize> {};

// Each value is summed in one order, however many threads share the work.
TEST_P(Threads, ChangeNoBit) {
  if (convolutionLibrary().empty()) GTEST_SKIP() << "a build without oneDNN";
  at::manual_seed(7);
  const int threads = at::get_num_threads();
  const auto& [algorithm, size, groups] = GetParam();
  const int64_t padding = size / 2, outputs = groups > 1 ? 48 : 32;
  const at::Tensor weight = at::randn({outputs, 48 / groups, size, size}).contiguous(channelsLast);
  const at::Tensor x = at::randn({3, 48, 40, 40}).contiguous(channelsLast), dy = at::randn({3, outputs, 40, 40});
  std::vector<at::Tensor> results;
  for (const int count : {1, 2, 3}) {
    at::set_num_threads(count);
    const at::Tensor gradient = at::empty_like(weight);
    const auto kernel = algorithm->make({1, 1, padding, padding, padding, padding, groups}, {weight, {}, gradient, {}});
    const at::Tensor y = kernel->forward(x), outputGradient = dy.contiguous(channelsLast);
    kernel->backwardParameters(x, outputGradient);
    std::vector<at::Tensor> own{y.flatten(), kernel->backwardInput(x, outputGradient).flatten()};
    if (algorithm->passes[2]) own.push_back(gradient.flatten());
    results.push_back(at::cat(own));
    EXPECT_TRUE(results.back().equal(results.front())) << count;
  }
  at::set_num_threads(threads);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Threads,
                         testing::Values(AlgorithmAndSize{&convolutionAlgorithms()[1], 3},
                                         AlgorithmAndSize{&convolutionAlgorithms()[3], 3},
                                         AlgorithmAndSize{&convolutionAlgorithms()[4], 1},
                                         AlgorithmAndSize{&convolutionAlgorithms()[5], 5, 48}),
                         [](const auto& row) { return std::string(row.param.algorithm->name); });

TEST(Winograd, SeesThatWeightsHaveChanged) {
  const at::Tensor weight = at::ones({16, 16, 3, 3}).contiguous(channelsLast), x = at::ones({1, 16, 4, 4});
  const at::Tensor input = x.contiguous(channelsLast);
  const auto kernel = makeWinogradConvolution({1, 1, 1, 1, 1, 1, 1}, {weight, {}, at::empty_like(weight), {}});
  const at::Tensor before = kernel->forward(input);
  at::Tensor(weight).mul_(2);
  EXPECT_TRUE(kernel->forward(input).equal(before));
  kernel->weightsChanged();
  EXPECT_LE(relativeError(kernel->forward(input), before * 2), 1e-6);
}

}  // namespace
}  // namespace tandem
