#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "data/transform/interpolation.h"
#include "formats/image/image.h"

namespace tandem {

struct ImageSize {
  int64_t height = 0, width = 0, channels = 0;
};

/// A rectangle of an image, in pixels. It may reach outside, where everything is 0.
struct ImageWindow {
  int64_t top = 0, left = 0, height = 0, width = 0;

  int64_t bottom() const { return top + height; }
  int64_t right() const { return left + width; }
  bool operator==(const ImageWindow&) const = default;
};

/// An image on its way through transforms. Cropping, padding, shifting and mirroring only move the window that is seen;
/// pixels are touched when something is computed of them, and when they are written out.
class WorkingImage {
 public:
  /// Pixels [H, W, C], which must outlive the object. REQUIRES: C is 1 (grey) or 3; sizes agree.
  WorkingImage(std::span<const uint8_t> pixels, const ImageSize& size);
  /// An image in colour that is decoded when its pixels are first needed. Only what is seen is decoded. If it is scaled
  /// to at most a half, a quarter or an eighth, it is decoded in that size. `decode` may throw. What it returns must
  /// outlive the object.
  using Decode = std::function<const Image&(const ImagePart&)>;
  WorkingImage(const ImageExtent& extent, Decode decode);

  int64_t height() const { return window_.height; }
  int64_t width() const { return window_.width; }

  /// Sees this part of what is seen now. What was outside stays 0.
  void crop(const ImageWindow& part);
  /// Exchanges left and right.
  void mirror() { mirrored_ = !mirrored_; }
  /// Scales what is seen. Throws DataError if that were more pixels than ImageLimits allow.
  void resize(int64_t height, int64_t width, const Interpolation& by = interpolations().front());
  /// What is seen, as [1, 3, H, W] in channels-last order. Grey is repeated. It may be a view of this image.
  at::Tensor pixels();
  /// Replaces the image. REQUIRES: [1, 3, H, W], bytes.
  void replace(const at::Tensor& pixels);
  /// Writes what is seen as [H, W, 3]; grey is repeated. REQUIRES: the size agrees.
  void write(std::span<uint8_t> out);

  const ImageWindow& window() const { return window_; }
  bool mirrored() const { return mirrored_; }

 private:
  /// Decodes what is seen, unless that is done. REQUIRES: `shrink` as of an ImagePart.
  void load(int64_t shrink);

  Decode decode_;   // empty: the pixels are there
  at::Tensor own_;  // keeps the memory of `source_`, unless that is the caller's
  const uint8_t* source_ = nullptr;
  ImageSize size_;
  ImageWindow window_, visible_;  // in pixels of the source; outside of `visible_` all is 0
  bool mirrored_ = false;
};

}  // namespace tandem
