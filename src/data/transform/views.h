#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string_view>
#include <vector>

namespace tandem {

/// Images as a network sees them once more, and the part that these outputs have in the mean of all.
struct ImageView {
  at::Tensor images;
  double weight;
};

/// A row of the catalog of views by which a network is evaluated.
struct ViewsEntry {
  std::string_view name, summary;
  /// The views of images [N, C, H, W], in their memory format, the images themselves first. Weights have the sum 1.
  std::vector<ImageView> (*of)(const at::Tensor& images);
};

/// none, mirror, mirror_shift.
std::span<const ViewsEntry> evaluationViews();

}  // namespace tandem
