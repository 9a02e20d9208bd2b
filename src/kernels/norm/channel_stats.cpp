#include "kernels/norm/channel_stats.h"

#include <ATen/ATen.h>

namespace tandem {

ChannelMoments momentsOf(const ChannelStats& sums, int64_t values) {
  const double share = 1 / static_cast<double>(values);
  const at::Tensor distance = sums.sum.to(at::kDouble) * share;
  const at::Tensor variance = (sums.squares.to(at::kDouble) * share - distance * distance).clamp_min_(0);
  return {sums.about.defined() ? distance + sums.about : distance, variance};
}

}  // namespace tandem
