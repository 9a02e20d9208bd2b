#pragma once

#include <c10/core/MemoryFormat.h>

#include <span>
#include <string_view>

namespace tandem {

struct LayoutEntry {
  std::string_view name, summary;
  at::MemoryFormat format;  ///< of 4-D activations and convolution weights
  bool blocked = false;     ///< NCHWc: activations between convolutions in blocks of channels (kernels/conv/nchwc.h)
};

/// nhwc, nchw, blocked.
std::span<const LayoutEntry> layouts();

}  // namespace tandem
