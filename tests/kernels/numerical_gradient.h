#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

namespace tandem {

/// Expects that `gradient` is that of `f` at `x`, along three random directions v of normal numbers.
///
/// The slope is a central difference, extrapolated to step 0 (Richardson), so it errs by step^4, some 1e-6 of slopes of
/// order 1. Points and f's terms are rounded to fp32: 2^-24 over the half step, times 4/3 by the extrapolation, is 5e-6
/// of each. The bound is 3e-5 of |gradient| |v|. REQUIRES: no kink of f within 4 steps of x.
inline void expectNumericalGradient(const std::function<double(const at::Tensor&)>& f, const at::Tensor& x,
                                    const at::Tensor& gradient) {
  constexpr double step = 0x1p-5, bound = 3e-5;
  for (int i = 0; i < 3; ++i) {
    const at::Tensor v = at::randn_like(x);
    const auto difference = [&](double h) { return (f(x + h * v) - f(x - h * v)) / (2 * h); };
    const double slope = (4 * difference(step / 2) - difference(step)) / 3;
    const at::Tensor wide = gradient.to(at::kDouble), direction = v.to(at::kDouble);
    EXPECT_NEAR(slope, (wide * direction).sum().item<double>(),
                bound * wide.norm().item<double>() * direction.norm().item<double>());
  }
}

/// The sum of weights * y in fp64: a function of y whose gradient is `weights`.
inline double weighted(const at::Tensor& weights, const at::Tensor& y) {
  return (weights.to(at::kDouble) * y.to(at::kDouble)).sum().item<double>();
}

/// Equal to `tensor` [N, C, H, W], but each second row and column of a larger one in channels-last memory
/// that holds NaN between.
inline at::Tensor strided(const at::Tensor& tensor) {
  const std::array<int64_t, 4> sizes{tensor.size(0), tensor.size(1), 2 * tensor.size(2) - 1, 2 * tensor.size(3) - 1};
  const at::Tensor large = at::full(sizes, std::nan(""), tensor.options()).contiguous(at::MemoryFormat::ChannelsLast);
  at::Tensor view = large.slice(2, 0, std::nullopt, 2).slice(3, 0, std::nullopt, 2);
  return view.copy_(tensor);
}

}  // namespace tandem
