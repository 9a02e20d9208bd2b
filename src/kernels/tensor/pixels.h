#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/gpu/dispatch.h"

namespace tandem {

/// A value [N, C, H, W] with the channels of a pixel behind, [N, H, W, C], and back, as views.
inline at::Tensor channelsBehind(const at::Tensor& x) { return x.permute({0, 2, 3, 1}); }
inline at::Tensor channelsBefore(const at::Tensor& x) { return x.permute({0, 3, 1, 2}); }

/// Whether loops of the CPU can read a value as rows: one for each pixel, of its channels side by side.
inline bool hasPixelRows(const at::Tensor& x) {
  return x.is_cpu() && x.dim() == 4 && isElement(x.scalar_type()) && x.is_contiguous(at::MemoryFormat::ChannelsLast) &&
         x.numel() > 0;
}

}  // namespace tandem
