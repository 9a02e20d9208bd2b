#include "kernels/transformer/layer_norm.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "support/precisions.h"
#include "support/relative_error.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;
constexpr double epsilon = 1e-6;

struct Shape {
  int64_t images, channels, height, width;
};

struct Results {
  at::Tensor y, x, scale, shift;
};

class LayerNorm : public testing::TestWithParam<std::tuple<Shape, at::ScalarType>> {
 protected:
  LayerNorm() {
    const Shape& s = std::get<0>(GetParam());
    at::manual_seed(5);
    const auto images = [&] {
      return at::randn({s.images, s.channels, s.height, s.width}).contiguous(channelsLast).to(type());
    };
    x_ = (images() * 3 + 2).to(type()), gradient_ = images();
    scale_ = at::randn({s.channels}) + 1, shift_ = at::randn({s.channels});
  }

  static at::ScalarType type() { return std::get<1>(GetParam()); }

  static Results computed(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift, at::Tensor gradient) {
    LayerNormSaved saved;
    at::Tensor y = layerNorm(x, scale, shift, epsilon, saved);
    LayerNormGradients gradients = layerNormBackward(std::move(gradient), x, scale, saved);
    return {std::move(y), std::move(gradients.x), std::move(gradients.scale), std::move(gradients.shift)};
  }

  Results computed() const { return computed(x_, scale_, shift_, gradient_.clone()); }

  // By autograd of a written-out formula.
  Results exact() const {
    const at::Tensor x = x_.to(at::kDouble).requires_grad_(), gradient = gradient_.to(at::kDouble);
    const at::Tensor scale = scale_.to(at::kDouble).requires_grad_(), shift = shift_.to(at::kDouble).requires_grad_();
    const at::Tensor centred = x - x.mean(1, /*keepdim=*/true);
    const at::Tensor deviation = (centred.square().mean(1, /*keepdim=*/true) + epsilon).sqrt();
    at::Tensor y = centred / deviation * scale.view({-1, 1, 1}) + shift.view({-1, 1, 1});
    y.backward(gradient);
    return {y.detach(), x.grad(), scale.grad(), shift.grad()};
  }

  static void expectNear(const Results& actual, const Results& expected) {
    const double bound = 2 * unitOf(type()) + 32 * unitOf(at::kFloat);
    EXPECT_LE(relativeError(actual.y, expected.y), bound);
    EXPECT_LE(relativeError(actual.x, expected.x), bound);
    EXPECT_LE(relativeError(actual.scale, expected.scale), bound);
    EXPECT_LE(relativeError(actual.shift, expected.shift), bound);
  }

  at::Tensor x_, gradient_, scale_, shift_;
};

TEST_P(LayerNorm, EqualsExactResultsRoundedOnce) {
  const Results actual = computed();
  EXPECT_EQ(actual.y.scalar_type(), type());
  EXPECT_EQ(actual.x.scalar_type(), type());
  EXPECT_EQ(actual.scale.scalar_type(), at::kFloat);
  EXPECT_TRUE(actual.y.is_contiguous(channelsLast));
  expectNear(actual, exact());
}

TEST_P(LayerNorm, ThreadsChangeNoBit) {
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const Results one = computed();
  at::set_num_threads(3);
  const Results three = computed();
  at::set_num_threads(before);
  EXPECT_TRUE(at::equal(one.y, three.y) && at::equal(one.x, three.x));
  EXPECT_TRUE(at::equal(one.scale, three.scale) && at::equal(one.shift, three.shift));
}

TEST_P(LayerNorm, AGradientThatSomebodyHoldsStays) {
  LayerNormSaved saved;
  layerNorm(x_, scale_, shift_, epsilon, saved);
  const at::Tensor before = gradient_.clone();
  const void* const there = gradient_.data_ptr();
  EXPECT_NE(layerNormBackward(gradient_, x_, scale_, saved).x.data_ptr(), there);
  EXPECT_TRUE(at::equal(gradient_, before));
  EXPECT_EQ(layerNormBackward(std::move(gradient_), x_, scale_, saved).x.data_ptr(), there);
}

INSTANTIATE_TEST_SUITE_P(Shapes, LayerNorm,
                         testing::Combine(testing::Values(Shape{2, 96, 9, 7}, Shape{3, 40, 5, 1}, Shape{1, 7, 3, 3},
                                                          Shape{2, 200, 28, 28}, Shape{5, 768, 1, 1}),
                                          testing::Values(at::kFloat, at::kBFloat16, at::kHalf)),
                         [](const auto& row) {
                           const Shape& s = std::get<0>(row.param);
                           return std::to_string(s.images) + 'x' + std::to_string(s.channels) + 'x' +
                                  std::to_string(s.height) + 'x' + std::to_string(s.width) + '_' +
                                  c10::toString(std::get<1>(row.param));
                         });

using LayerNormOfOtherLayouts = LayerNorm;

TEST_P(LayerNormOfOtherLayouts, IsAtens) {
  expectNear(computed(x_.contiguous(), scale_, shift_, gradient_.contiguous()), exact());
}

INSTANTIATE_TEST_SUITE_P(Fp32, LayerNormOfOtherLayouts, testing::Values(std::tuple(Shape{2, 40, 9, 7}, at::kFloat)));

}  // namespace
}  // namespace tandem
