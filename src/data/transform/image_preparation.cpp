#include "data/transform/image_preparation.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr NormalizationEntry table[] = {
    {"imagenet",
     "mean and deviation of ImageNet, per channel: torchvision and timm",
     {{0.485F * 255, 0.456F * 255, 0.406F * 255}, {0.229F * 255, 0.224F * 255, 0.225F * 255}},
     false},
    {"symmetric", "from -1 to 1: Inception-v3 of Keras", {{127.5F, 127.5F, 127.5F}, {127.5F, 127.5F, 127.5F}}, false},
    {"caffe",
     "blue first, the mean of ImageNet taken off: ResNet and VGG of Keras",
     {{103.939F, 116.779F, 123.68F}, {1, 1, 1}},
     true},
};

/// A view [1, 3, H, W] of the pixels.
at::Tensor viewOf(const Image& image) {
  auto* const pixels = const_cast<uint8_t*>(image.pixels.data());  // from_blob has no form for what is only read
  return at::from_blob(pixels, {1, image.height, image.width, 3}, at::kByte)
      .permute({0, 3, 1, 2});  // from_blob has no form for read-only memory
}

struct Size {
  int64_t height, width;
};

Size scaledSize(const Image& image, int64_t shorter) {
  const int64_t least = std::min(image.height, image.width);
  return {shorter * image.height / least, shorter * image.width / least};
}

at::Tensor resized(const Image& image, int64_t shorter) {
  at::Tensor view = viewOf(image);
  const Size size = scaledSize(image, shorter);
  if (size.height == image.height && size.width == image.width) return view;
  return at::_upsample_bilinear2d_aa(view, {size.height, size.width}, /*align_corners=*/false);
}

/// Half of `rest`; halves are rounded to even.
int64_t halfOf(int64_t rest) { return std::lround(std::nearbyint(static_cast<double>(rest) / 2)); }

}  // namespace

std::span<const NormalizationEntry> normalizations() { return table; }

int64_t usualResize(int64_t crop) { return std::lround(static_cast<double>(crop) * 256 / 224); }

std::optional<std::string> preparationFault(const Image& image, const ImagePreparation& preparation) {
  const Size size = scaledSize(image, preparation.resize);
  const int64_t limit = ImageLimits().pixels;
  if (size.height * size.width <= limit) return std::nullopt;
  return concat("it is ", image.width, 'x', image.height, " pixels; with a shorter side of ", preparation.resize,
                " it would have ", size.height * size.width, ", the limit is ", limit);
}

void prepareImage(const Image& image, const ImagePreparation& preparation, std::span<uint8_t> out) {
  check(preparation.resize >= preparation.crop, "an image is cropped from a larger one");
  check(std::ssize(out) == preparation.crop * preparation.crop * 3, "the input has room for the crop");
  const at::NoGradGuard noGradients;
  at::Tensor scaled = resized(image, preparation.resize);
  const int64_t crop = preparation.crop;
  scaled = scaled.narrow(2, halfOf(scaled.size(2) - crop), crop).narrow(3, halfOf(scaled.size(3) - crop), crop);
  if (preparation.bgr) scaled = scaled.flip(1);
  at::from_blob(out.data(), {1, crop, crop, 3}, at::kByte).copy_(scaled.permute({0, 2, 3, 1}));
}

}  // namespace tandem
