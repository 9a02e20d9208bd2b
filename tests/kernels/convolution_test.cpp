#include "kernels/convolution.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "kernels/blocked.h"
#include "numerical_gradient.h"
#include "support/relative_error.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;

struct Layer {
  const char* name;
  int64_t images, inputs, outputs, height, width, kernelH, kernelW;
  ConvolutionGeometry geometry;
  bool bias;
};

using Case = std::tuple<Layer, at::ScalarType, bool /*blocked*/>;

struct Results {
  at::Tensor y, x, weight, bias;
};

class OnednnConvolution : public testing::TestWithParam<Case> {
 protected:
  OnednnConvolution() : layer_(std::get<0>(GetParam())), type_(std::get<1>(GetParam())) {
    at::manual_seed(5);
    const auto& g = layer_.geometry;
    const int64_t height = (layer_.height + g.top + g.bottom - layer_.kernelH) / g.strideH + 1;
    const int64_t width = (layer_.width + g.left + g.right - layer_.kernelW) / g.strideW + 1;
    x_ = random({layer_.images, layer_.inputs, layer_.height, layer_.width});
    dy_ = random({layer_.images, layer_.outputs, height, width});
    weight_ = random({layer_.outputs, layer_.inputs / g.groups, layer_.kernelH, layer_.kernelW});
    if (layer_.bias) bias_ = at::randn({layer_.outputs}).to(type_);
  }

  void SetUp() override {
    if (convolutionLibrary().empty()) GTEST_SKIP() << "a build without oneDNN";
  }

  at::Tensor random(at::IntArrayRef shape) const { return at::randn(shape).to(type_).contiguous(channelsLast); }

  /// The weight's values in blocks of channels, as FlatBuffers holds them.
  static at::Tensor inBlocks(const at::Tensor& weight) {
    const int64_t b = blockChannels();
    at::Tensor memory =
        at::empty({weight.size(0) / b, weight.size(1) / b, weight.size(2), weight.size(3), b, b}, weight.options());
    at::Tensor view = memory.permute({0, 5, 1, 4, 2, 3});
    view.copy_(weight.contiguous().view(view.sizes()));
    return view;
  }

  Results byKernel(bool blocked) const {
    const int64_t groups = layer_.geometry.groups;
    const bool blockedOutput = blocked && canBlock(layer_.outputs / groups);
    const bool blockedInput = blockedOutput && canBlock(layer_.inputs / groups);
    const at::Tensor weight = blockedInput && groups == 1 ? inBlocks(weight_) : weight_;
    Results r{{}, {}, at::empty_like(weight), layer_.bias ? at::empty_like(bias_) : at::Tensor()};
    const auto kernel = makeConvolution(layer_.geometry, {weight, bias_, r.weight, r.bias});
    const at::Tensor x = blockedInput ? toBlocked(x_) : x_, dy = blockedOutput ? toBlocked(dy_) : dy_;
    const auto plain = [&](const at::Tensor& t, bool is) { return is ? fromBlocked(t, layer_.images) : t; };
    r.y = plain(kernel->forward(x, blockedOutput), blockedOutput);
    kernel->backwardParameters(x, dy);
    r.x = plain(kernel->backwardInput(x, dy), blockedInput);
    r.weight = r.weight.reshape(weight_.sizes());
    return r;
  }

  Results exact() const {
    const auto wide = [](const at::Tensor& t) { return t.defined() ? t.to(at::kDouble) : t; };
    const auto& g = layer_.geometry;
    const at::Tensor x = at::constant_pad_nd(wide(x_), {g.left, g.right, g.top, g.bottom});
    const std::array<int64_t, 2> strides{g.strideH, g.strideW}, none{0, 0}, dilation{1, 1};
    Results r;
    r.y = at::conv2d(x, wide(weight_), wide(bias_), strides, none, dilation, g.groups);
    const std::array<int64_t, 1> biasSizes{layer_.outputs};
    std::tie(r.x, r.weight, r.bias) = at::convolution_backward(
        wide(dy_), x, wide(weight_), layer_.bias ? at::OptionalIntArrayRef(biasSizes) : std::nullopt, strides, none,
        dilation, false, none, g.groups, {true, true, layer_.bias});
    r.x = r.x.slice(2, g.top, g.top + layer_.height).slice(3, g.left, g.left + layer_.width);
    return r;
  }

  void expectSlopes(at::Tensor& input, const at::Tensor& gradient) {
    const at::Tensor own = input;
    const auto f = [&](const at::Tensor& value) {
      input = value;
      return weighted(dy_, byKernel(std::get<2>(GetParam())).y);
    };
    expectNumericalGradient(f, own, gradient);
    input = own;
  }

  Layer layer_;
  at::ScalarType type_;
  at::Tensor x_, dy_, weight_, bias_;
};

// fp32: 1e-5 of the norm. bf16: products are summed in fp32 and each result is rounded once, to 2^-9 of itself.
TEST_P(OnednnConvolution, EqualsAtenInDoublePrecision) {
  const Results actual = byKernel(std::get<2>(GetParam())), expected = exact();
  const double bound = type_ == at::kFloat ? 1e-5 : 0x1p-9;
  EXPECT_LE(relativeError(actual.y, expected.y), bound);
  EXPECT_LE(relativeError(actual.x, expected.x), bound);
  EXPECT_LE(relativeError(actual.weight, expected.weight), bound);
  if (layer_.bias) {
    EXPECT_LE(relativeError(actual.bias, expected.bias), bound);
  }
}

// y is linear in each of x, weight and bias, so a difference has no error but rounding.
TEST_P(OnednnConvolution, GradientsAgreeWithTheNumericalOnes) {
  if (type_ != at::kFloat) GTEST_SKIP() << "rounding to bf16 hides slopes";
  const Results gradients = byKernel(std::get<2>(GetParam()));
  expectSlopes(x_, gradients.x);
  expectSlopes(weight_, gradients.weight);
  if (layer_.bias) expectSlopes(bias_, gradients.bias);
}

std::string nameOf(const testing::TestParamInfo<Case>& row) {
  const auto& [layer, type, blocked] = row.param;
  return concat(layer.name, type == at::kFloat ? "_fp32" : "_bf16", blocked ? "_blocked" : "_plain");
}

INSTANTIATE_TEST_SUITE_P(
    Layers, OnednnConvolution,
    testing::Combine(testing::Values(Layer{"stem", 2, 3, 32, 31, 29, 7, 7, {2, 2, 3, 3, 3, 3, 1}, false},
                                     Layer{"plain3x3", 3, 32, 48, 9, 11, 3, 3, {1, 1, 1, 1, 1, 1, 1}, true},
                                     Layer{"strided", 2, 48, 32, 13, 12, 3, 3, {2, 2, 1, 1, 1, 1, 1}, false},
                                     Layer{"unequalPadding", 2, 32, 32, 12, 12, 3, 3, {2, 2, 0, 1, 0, 1, 1}, true},
                                     Layer{"pointwise", 1, 64, 32, 7, 7, 1, 1, {1, 1, 0, 0, 0, 0, 1}, false},
                                     Layer{"stridedPointwise", 5, 32, 64, 8, 8, 1, 1, {2, 2, 0, 0, 0, 0, 1}, true},
                                     Layer{"grouped", 2, 64, 64, 6, 6, 3, 3, {1, 1, 1, 1, 1, 1, 2}, true},
                                     Layer{"oddChannels", 2, 5, 7, 6, 5, 3, 1, {1, 1, 1, 1, 0, 0, 1}, true},
                                     Layer{"depthwise", 1, 6, 6, 5, 7, 3, 3, {1, 1, 1, 1, 1, 1, 6}, false},
                                     Layer{"oneChannel", 1, 1, 1, 5, 7, 3, 3, {1, 1, 1, 1, 1, 1, 1}, true},
                                     Layer{"onePixel", 4, 32, 16, 1, 1, 1, 1, {1, 1, 0, 0, 0, 0, 1}, true}),
                     testing::Values(at::kFloat, at::kBFloat16), testing::Bool()),
    nameOf);

TEST(OnednnConvolutionShapes, ASecondShapeIsServedToo) {
  if (convolutionLibrary().empty()) GTEST_SKIP() << "a build without oneDNN";
  at::manual_seed(1);
  const at::Tensor weight = at::randn({8, 4, 3, 3}).contiguous(channelsLast);
  const auto kernel = makeConvolution({1, 1, 1, 1, 1, 1, 1}, {weight, {}, at::empty_like(weight), {}});
  for (const int64_t images : {3, 1, 3}) {
    const at::Tensor x = at::randn({images, 4, 5, 6}).contiguous(channelsLast);
    EXPECT_LE(relativeError(kernel->forward(x, false), at::conv2d(x, weight, {}, 1, 1)), 1e-5);
  }
}

TEST(OnednnConvolutionShapes, NoKernelForDoublePrecision) {
  const at::Tensor weight = at::randn({8, 4, 3, 3}, at::kDouble).contiguous(channelsLast);
  EXPECT_EQ(makeConvolution({}, {weight, {}, at::empty_like(weight), {}}), nullptr);
}

}  // namespace
}  // namespace tandem
