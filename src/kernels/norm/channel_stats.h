#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tandem {

/// Per-channel statistics that the producing kernel accumulated over all images and pixels, [C] fp32 each. The tensor
/// may be blocked.
///
/// If `sum` and `squares` have relative error e, the variance has at most e * (1 + 3 * (mean - about)^2 / variance). It
/// cancels if the mean is many deviations away from `about`. If `about` is the mean, nothing cancels: `sum` is 0 and
/// `squares` are the squared deviations.
struct ChannelStats {
  at::Tensor sum = {}, squares = {};  ///< sums of x - about and of its square; undefined: not accumulated
  at::Tensor about = {};              ///< undefined: 0

  bool defined() const { return sum.defined(); }
};

/// [C] fp64 each.
struct ChannelMoments {
  at::Tensor mean, variance;  ///< biased, never below 0
};

/// `values`: the number of values per channel.
ChannelMoments momentsOf(const ChannelStats& sums, int64_t values);

}  // namespace tandem
