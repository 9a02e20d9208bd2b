#pragma once

#include <ATen/core/Tensor.h>

#include "data/transform/working_image.h"

namespace tandem {

/// A window of images [N, C, H, W], on their device. What lies outside is the mirror image at the edge, whose pixels
/// are not repeated, as of torch.nn.functional.pad with mode="reflect". REQUIRES: it reaches out by less than a side.
at::Tensor reflectedWindow(const at::Tensor& images, const ImageWindow& window);

}  // namespace tandem
