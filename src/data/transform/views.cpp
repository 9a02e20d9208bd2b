#include "data/transform/views.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

std::vector<ImageView> unchanged(const at::Tensor& images) { return {{images, 1}}; }

at::Tensor mirrored(const at::Tensor& images) { return images.flip(3).contiguous(images.suggest_memory_format()); }

/// Position i of the result is position i + by of `size`; what lies outside is mirrored at the edge.
at::Tensor shiftedPositions(int64_t size, int64_t by, at::Device device) {
  const at::Tensor positions = (at::arange(size, at::device(device).dtype(at::kLong)) + by).abs();
  return (size - 1) - (positions - (size - 1)).abs();
}

/// Both ways by `by` pixels.
at::Tensor shifted(const at::Tensor& images, int64_t by) {
  at::Tensor moved = images;
  for (const int64_t side : {2, 3}) {
    moved = moved.index_select(side, shiftedPositions(images.size(side), by, images.device()));
  }
  return moved.contiguous(images.suggest_memory_format());
}

std::vector<ImageView> mirror(const at::Tensor& images) { return {{images, 0.5}, {mirrored(images), 0.5}}; }

// Half of the weight is that of the images in their place, half that of those which are shifted.
std::vector<ImageView> mirrorShift(const at::Tensor& images) {
  check(images.size(2) > 1 && images.size(3) > 1, "images of one pixel cannot be shifted");
  std::vector<ImageView> views{{images, 0.25}, {mirrored(images), 0.25}};
  for (const int64_t by : {-1, 1}) {
    const at::Tensor moved = shifted(images, by);
    views.push_back({moved, 0.125});
    views.push_back({mirrored(moved), 0.125});
  }
  return views;
}

constexpr ViewsEntry rows[] = {
    {"none", "the image alone", unchanged},
    {"mirror", "the image and its mirror image", mirror},
    {"mirror_shift",
     "the image, with half of the weight, and shifted by a pixel up and left, and down and right; each also mirrored",
     mirrorShift},
};

}  // namespace

std::span<const ViewsEntry> evaluationViews() { return rows; }

}  // namespace tandem
