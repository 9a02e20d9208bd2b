#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem {

/// What a convolution's weight sees: from images [N, H, W, C] at each place of the result, row-major over images, rows
/// and columns, the values [kH, kW, C], zero outside of the image.
struct Patches {
  int64_t channels, height, width;
  int64_t kernelH, kernelW;
  int64_t strideH, strideW;
  int64_t top, left;                  ///< padding
  int64_t resultHeight, resultWidth;  ///< places of one image
  int64_t elementSize;                ///< bytes of a value

  int64_t values() const { return kernelH * kernelW * channels; }
  /// True when the images are their own patches.
  bool areImages() const {
    return kernelH * kernelW * strideH * strideW == 1 && resultHeight == height && resultWidth == width;
  }

  /// Places [first, last) of `images` become rows of values(). On the calling thread.
  void gather(const std::byte* images, int64_t first, int64_t last, std::byte* rows) const;
};

}  // namespace tandem
