#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tandem {

/// What is known of a tensor's channels from when it was written, blocked or not, over all images and pixels: [C] fp32
/// each.
///
/// A relative error e of these numbers is one of the variance of at most e * (1 + 3 * (mean - about)^2 / variance):
/// where the mean is many deviations away from `about` they cancel. About the mean itself nothing does: `sum` is 0
/// then, and `squares` are those of the deviations.
struct ChannelStats {
  at::Tensor sum = {}, squares = {};  ///< of x - about, and of its square; undefined: not taken
  at::Tensor about = {};              ///< undefined: 0

  bool defined() const { return sum.defined(); }
};

/// [C] fp64.
struct ChannelMoments {
  at::Tensor mean, variance;  ///< biased, never below 0
};

/// `values`: that a channel has.
ChannelMoments momentsOf(const ChannelStats& sums, int64_t values);

}  // namespace tandem
