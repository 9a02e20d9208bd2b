#include "kernels/transformer/gelu.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

#include "support/precisions.h"
#include "support/relative_error.h"

namespace tandem {
namespace {

class Gelu : public testing::TestWithParam<at::ScalarType> {
 protected:
  // More values than a vector, and no whole number of them.
  const at::Tensor x_ = (at::linspace(-12, 12, 3 * 5 * 7 * 1111).view({3, 5, 7, 1111})).to(GetParam());
  const at::Tensor gradient_ = at::randn_like(x_);
  // Half the distance of two values of the type, of the largest terms: near its zeros the function is a difference.
  const double bound_ = 2.01 * unitOf(GetParam()) + 8 * unitOf(at::kFloat);

  void expectNear(const at::Tensor& actual, const at::Tensor& exact, const at::Tensor& size) const {
    EXPECT_EQ(actual.scalar_type(), GetParam());
    const at::Tensor distance = (actual.to(at::kDouble) - exact).abs();
    EXPECT_LE((distance / size).max().item<double>(), bound_);
  }
};

TEST_P(Gelu, EqualsTheExactFunctionRoundedOnce) {
  const at::Tensor exact = at::gelu(x_.to(at::kDouble));
  expectNear(geluForward(x_), exact, x_.to(at::kDouble).abs() + 1e-3);
}

TEST_P(Gelu, GradientEqualsTheExactOneRoundedOnce) {
  const at::Tensor gradient = gradient_.to(at::kDouble);
  const at::Tensor exact = at::gelu_backward(gradient, x_.to(at::kDouble));
  expectNear(geluBackward(gradient_, x_), exact, gradient.abs() * 2 + 1e-6);
}

TEST_P(Gelu, KeepsMemoryFormats) {
  const at::Tensor x = x_.permute({0, 3, 1, 2}), gradient = gradient_.permute({0, 3, 1, 2}).contiguous();
  const at::Tensor y = geluForward(x), dx = geluBackward(gradient, x);
  EXPECT_EQ(y.strides(), x.strides());
  EXPECT_EQ(dx.strides(), x.strides());
  EXPECT_TRUE(at::equal(y, geluForward(x_).permute({0, 3, 1, 2})));
  EXPECT_TRUE(at::equal(dx, geluBackward(gradient_, x_).permute({0, 3, 1, 2})));
}

TEST_P(Gelu, OfViewsWithGapsIsAtens) {
  const at::Tensor x = x_.narrow(3, 1, 700);
  EXPECT_LE(relativeError(geluForward(x), geluForward(x_).narrow(3, 1, 700)), bound_);
  EXPECT_LE(relativeError(geluBackward(gradient_.narrow(3, 1, 700), x), geluBackward(gradient_, x_).narrow(3, 1, 700)),
            bound_);
}

TEST_P(Gelu, AGradientThatSomebodyHoldsStays) {
  const at::Tensor before = gradient_.clone();
  EXPECT_NE(geluBackward(gradient_, x_).data_ptr(), gradient_.data_ptr());
  EXPECT_TRUE(at::equal(gradient_, before));
  at::Tensor free = gradient_.clone();
  const void* const freed = free.data_ptr();
  EXPECT_EQ(geluBackward(std::move(free), x_).data_ptr(), freed);
}

TEST_P(Gelu, NanStaysNanAndInfinityStaysInfinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const at::Tensor y = geluForward(at::tensor({nan, infinity, 1e30F, -1e4F}).to(GetParam())).to(at::kFloat);
  EXPECT_TRUE(y[0].isnan().item<bool>());
  EXPECT_EQ(y[1].item<float>(), infinity);
  EXPECT_EQ(y[3].item<float>(), 0);
}

INSTANTIATE_TEST_SUITE_P(Types, Gelu, testing::Values(at::kFloat, at::kBFloat16, at::kHalf),
                         [](const auto& row) { return c10::toString(row.param); });

}  // namespace
}  // namespace tandem
