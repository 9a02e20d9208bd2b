#include "data/transform/views.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "data/transform/reflection.h"

namespace tandem {
namespace {

std::vector<ImageView> unchanged(const at::Tensor& images) { return {{images, 1}}; }

at::Tensor mirrored(const at::Tensor& images) { return images.flip(3).contiguous(images.suggest_memory_format()); }

/// Adds images and their mirror images, which share the weight.
void addBoth(const at::Tensor& images, double weight, std::vector<ImageView>& views) {
  views.push_back({images, weight / 2});
  views.push_back({mirrored(images), weight / 2});
}

std::vector<ImageView> mirror(const at::Tensor& images) {
  std::vector<ImageView> views;
  addBoth(images, 1, views);
  return views;
}

// Half of the weight is that of the images in their place, half that of those which are shifted.
std::vector<ImageView> mirrorShift(const at::Tensor& images) {
  const int64_t height = images.size(2), width = images.size(3);
  check(height > 1 && width > 1, "images of one pixel cannot be shifted");
  std::vector<ImageView> views;
  addBoth(images, 0.5, views);
  for (const int64_t by : {-1, 1}) {
    const at::Tensor shifted = reflectedWindow(images, {by, by, height, width});
    addBoth(shifted.contiguous(images.suggest_memory_format()), 0.25, views);
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
