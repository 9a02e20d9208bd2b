#pragma once

#include <ATen/core/Tensor.h>

namespace tandem {

/// The image turned about its centre, anticlockwise, in its own size: the nearest pixel, zeros where there is none. As
/// torchvision's rotate of tensors. REQUIRES: [1, C, H, W], bytes.
at::Tensor rotated(const at::Tensor& image, double degrees);

}  // namespace tandem
