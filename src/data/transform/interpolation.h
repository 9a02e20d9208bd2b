#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string_view>

namespace tandem {

/// A row of the ways to scale images. With anti-aliasing, as torchvision's Resize of tensors of bytes.
struct Interpolation {
  std::string_view name, summary;
  /// REQUIRES: [1, 3, H, W], bytes.
  at::Tensor (*scale)(const at::Tensor& image, int64_t height, int64_t width);
};

/// bilinear, bicubic.
std::span<const Interpolation> interpolations();

}  // namespace tandem
