#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem {

/// im2col. For each place of the result, in row-major order over images, rows and columns: the values [kH, kW, C] that
/// the weight is multiplied with, zero outside the image. Images are [N, H, W, C].
struct Patches {
  int64_t channels, height, width;
  int64_t kernelH, kernelW;
  int64_t strideH, strideW;
  int64_t top, left;                  ///< padding
  int64_t resultHeight, resultWidth;  ///< places of one image
  int64_t elementSize;                ///< bytes of a value

  int64_t values() const { return kernelH * kernelW * channels; }
  /// Whether the images are their own patches.
  bool areImages() const {
    return kernelH * kernelW * strideH * strideW == 1 && resultHeight == height && resultWidth == width;
  }

  /// Writes places [first, last) of `images` as rows of values(). Runs on the calling thread.
  void gather(const std::byte* images, int64_t first, int64_t last, std::byte* rows) const;
};

}  // namespace tandem
