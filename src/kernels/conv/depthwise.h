#pragma once

#include "kernels/simd/element.h"
#include "kernels/simd/image_strides.h"
#include "kernels/simd/isa_dispatch.h"

/// Depthwise convolutions: each channel is convolved with a filter of its own. fp32 or bfloat16, summed in fp32.
/// Channels are whole vectors (kernels/simd/isa_dispatch.h).
namespace tandem::depthwise {

constexpr int64_t highestFilter = 7;

/// Whether the kernels are built for such a filter.
constexpr bool serves(int64_t height, int64_t width, int64_t stride) {
  return height <= highestFilter && (width == 3 || width == 5 || width == 7) && (stride == 1 || stride == 2);
}

/// Place (h, w) of a filter meets pixel (h - top + y * stride, w - left + x * stride) for output pixel (y, x).
struct Window {
  int64_t height, width, stride, top, left;
  TANDEM_INLINE int64_t taps() const { return height * width; }
};

/// One pass over the images. `filters`: for each vector of channels a vector per tap, row by row.
struct Pass {
  const void* from;
  void* to;
  ImageOrder fromOrder, toOrder;
  Element type;
  Window window;
  const float* filters;
  const float* bias;  ///< one per channel; null: 0
};

/// Gradients of the filters and of the bias. `sums`: for each vector of channels a vector per tap, row by row, and then
/// one of the bias.
struct FilterGradient {
  const void *x, *dy;
  ImageOrder xOrder, dyOrder;
  Element type;
  Window window;
  float* sums;
};

/// Vectors of channels that a line of a pass has: all that lie side by side in memory.
TANDEM_INLINE int64_t vectorsOfLine(const ImageOrder& order, int64_t lanes) {
  return order.block == lanes ? order.channels / lanes : 1;
}

/// Lines of a pass: the rows of all vectors of all images, line by line.
TANDEM_INLINE int64_t linesOf(const ImageOrder& order, int64_t lanes) {
  return order.images * order.height * (order.channels / lanes / vectorsOfLine(order, lanes));
}

/// The functions of isa/depthwise.cpp for one instruction set. The order of each sum is fixed.
struct Kernels {
  /// Computes lines [first, last) of y from x.
  void (*forward)(const Pass& pass, int64_t first, int64_t last);

  /// The same of dx from dy. With stride 1 this is forward() with turned filters. REQUIRES: stride 2.
  void (*backwardStrided)(const Pass& pass, int64_t first, int64_t last);

  /// Adds the gradients of vectors [first, last) of channels to `sums`.
  void (*gradients)(const FilterGradient& gradient, int64_t first, int64_t last);

  template <Isa>
  static Kernels with();
};

}  // namespace tandem::depthwise
