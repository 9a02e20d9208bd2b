#include "data/transform/working_image.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

template <int Channels>
void copyRow(const uint8_t* from, int64_t pixels, uint8_t* to, int64_t step) {
  for (int64_t x = 0; x < pixels; ++x, from += Channels, to += step) {
    to[0] = from[0];
    to[1] = from[Channels == 3 ? 1 : 0];
    to[2] = from[Channels == 3 ? 2 : 0];
  }
}

void copyPixels(const uint8_t* from, int64_t channels, int64_t pixels, uint8_t* to, bool backwards) {
  const int64_t step = backwards ? -3 : 3;
  if (channels == 1) {
    copyRow<1>(from, pixels, to, step);
  } else if (backwards) {
    copyRow<3>(from, pixels, to, step);
  } else {
    std::memcpy(to, from, static_cast<size_t>(3 * pixels));
  }
}

ImageWindow common(const ImageWindow& a, const ImageWindow& b) {
  ImageWindow both{.top = std::max(a.top, b.top), .left = std::max(a.left, b.left)};
  both.height = std::max<int64_t>(0, std::min(a.bottom(), b.bottom()) - both.top);
  both.width = std::max<int64_t>(0, std::min(a.right(), b.right()) - both.left);
  return both;
}

/// The largest shrink of an ImagePart that leaves the window at least this size.
int64_t shrinkFor(const ImageWindow& window, int64_t height, int64_t width) {
  int64_t shrink = 8;
  while (shrink > 1 && (window.height < shrink * height || window.width < shrink * width)) shrink /= 2;
  return shrink;
}

/// [1, 3, H, W] of memory [H, W, 3].
at::Tensor viewOf(const uint8_t* pixels, int64_t height, int64_t width) {
  auto* const memory = const_cast<uint8_t*>(pixels);  // from_blob has no form for read-only memory
  return at::from_blob(memory, {1, height, width, 3}, at::kByte).permute({0, 3, 1, 2});
}

}  // namespace

WorkingImage::WorkingImage(std::span<const uint8_t> pixels, const ImageSize& size)
    : source_(pixels.data()), size_(size), window_{0, 0, size.height, size.width}, visible_(window_) {
  check(size.channels == 1 || size.channels == 3, "an image is grey or has three channels");
  check(std::ssize(pixels) == size.height * size.width * size.channels, "WorkingImage: sizes");
}

WorkingImage::WorkingImage(const ImageExtent& extent, Decode decode)
    : decode_(std::move(decode)),
      size_{extent.height, extent.width, 3},
      window_{0, 0, extent.height, extent.width},
      visible_(window_) {}

void WorkingImage::load(int64_t shrink) {
  const Decode decode = std::exchange(decode_, nullptr);
  if (!decode) return;
  const ImageWindow seen = common(visible_, window_);
  size_ = {0, 0, 3};
  if (seen.height > 0 && seen.width > 0) {
    const Image& decoded = decode({seen.top, seen.left, seen.height, seen.width, shrink});
    source_ = decoded.pixels.data();
    size_ = {decoded.height, decoded.width, 3};
  }
  visible_ = {0, 0, size_.height, size_.width};
  // A reduced part is all that is seen, see resize().
  window_ = shrink > 1 ? visible_
                       : ImageWindow{window_.top - seen.top, window_.left - seen.left, window_.height, window_.width};
}

void WorkingImage::crop(const ImageWindow& part) {
  const int64_t left = mirrored_ ? window_.width - part.right() : part.left;
  visible_ = common(visible_, window_);
  window_ = {window_.top + part.top, window_.left + left, part.height, part.width};
}

void WorkingImage::resize(int64_t height, int64_t width, const Interpolation& by) {
  const int64_t limit = ImageLimits().pixels;
  if (height < 1 || width < 1 || height > limit / width) {
    throw DataError(concat("it is ", window_.width, 'x', window_.height, " pixels; scaled to ", width, 'x', height,
                           " it would have ", height * width, ", the limit is ", limit));
  }
  if (height == window_.height && width == window_.width) return;
  load(common(visible_, window_) == window_ ? shrinkFor(window_, height, width) : 1);
  if (height == window_.height && width == window_.width) return;
  replace(by.scale(pixels(), height, width));
}

at::Tensor WorkingImage::pixels() {
  load(1);
  const ImageWindow whole{0, 0, size_.height, size_.width};
  if (window_ == whole && visible_ == whole && !mirrored_ && size_.channels == 3) {
    return viewOf(source_, size_.height, size_.width);
  }
  const at::Tensor copy = at::empty({1, window_.height, window_.width, 3}, at::kByte);
  write({copy.mutable_data_ptr<uint8_t>(), static_cast<size_t>(copy.numel())});
  return copy.permute({0, 3, 1, 2});
}

void WorkingImage::replace(const at::Tensor& pixels) {
  check(pixels.dim() == 4 && pixels.size(0) == 1 && pixels.size(1) == 3 && pixels.scalar_type() == at::kByte,
        "WorkingImage::replace: [1, 3, H, W] in bytes");
  own_ = pixels.contiguous(at::MemoryFormat::ChannelsLast);
  source_ = own_.const_data_ptr<uint8_t>();
  size_ = {own_.size(2), own_.size(3), 3};
  window_ = visible_ = {0, 0, size_.height, size_.width};
  mirrored_ = false;
}

void WorkingImage::write(std::span<uint8_t> out) {
  load(1);
  const int64_t rowBytes = window_.width * 3;
  check(std::ssize(out) == window_.height * rowBytes, "WorkingImage::write: sizes");
  const ImageWindow seen = common(visible_, window_);
  const int64_t target = mirrored_ ? window_.right() - 1 - seen.left : seen.left - window_.left;
  for (int64_t y = 0; y < window_.height; ++y) {
    uint8_t* const row = out.data() + y * rowBytes;
    const int64_t line = window_.top + y;
    const bool isSeen = line >= seen.top && line < seen.bottom() && seen.width > 0;
    if (!isSeen || seen.width != window_.width) std::memset(row, 0, static_cast<size_t>(rowBytes));
    if (!isSeen) continue;
    const uint8_t* const from = source_ + (line * size_.width + seen.left) * size_.channels;
    copyPixels(from, size_.channels, seen.width, row + 3 * target, mirrored_);
  }
}

}  // namespace tandem
