#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <vector>

namespace tandem {

/// The windows of a pool over [N, C, H, W]. A pair is of rows and columns. Padding is on both sides, at most half the
/// kernel.
struct PoolWindow {
  std::array<int64_t, 2> kernel, stride, padding;
  bool ceilMode = false;  ///< the last window may reach over the far edge, but does not start there
};

/// What backward of a max-pool reads.
struct MaxPoolSaved {
  /// Like y, where each value was found. uint8: its place in the window, row by row. int64: ATen's number of the pixel.
  at::Tensor places;
  at::Tensor x;                ///< undefined beside uint8
  std::vector<int64_t> shape;  ///< of x
};

/// Whether maxPool() runs by Tandem's kernel, which keeps a byte for each value of y and no x: on a GPU in NHWC, in
/// fp32, bf16 and fp16, with windows of at most 256 places. ATen does all else. It also does tensors that take more
/// than 2^30 accesses of a thread.
bool hasMaxPoolKernel(at::Device device, at::ScalarType type, at::MemoryFormat format, const PoolWindow& window);

/// at::max_pool2d(x) with dilation 1. Of equal values the first of the window counts, and NaN more than all before it.
/// Sets `saved` unless that is null. y has the type and the memory format of x. On CUDA the work is enqueued on the
/// current stream. Any thread may call. REQUIRES: each window holds an input.
at::Tensor maxPool(const at::Tensor& x, const PoolWindow& window, MaxPoolSaved* saved);

/// The gradient of x, from that of y. The kernel adds the windows of an input in one order, in fp32, and rounds once.
at::Tensor maxPoolBackward(const at::Tensor& gradient, const PoolWindow& window, const MaxPoolSaved& saved);

}  // namespace tandem
