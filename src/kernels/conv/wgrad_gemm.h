#pragma once

#include "kernels/simd/element.h"
#include "kernels/simd/image_strides.h"
#include "kernels/simd/isa_dispatch.h"

/// The gradient of a convolution's weight: for each tap a product of matrices,
///   sum[o, i] = sum over places p of dy[p, o] * x[p as the tap sees it, i],
/// where a place is a pixel of an output. Some places at a time, both sides are packed as the product reads them, from
/// whatever order they lie in: no matrix of patches is made.
namespace tandem::packed {

struct WeightGradient {
  const void *x, *dy;  ///< of one type
  ImageOrder xOrder, dyOrder;
  int64_t kernelH, kernelW, strideH, strideW, top, left;
  float* sum;  ///< written; lies as `order`
  WeightOrder order;
  bool vectorsOfOutputs;  ///< a vector of outputs lies side by side in `sum` (order.output is 1), else inputs
  int64_t stepsAtOnce;    ///< packed at a time: steps of one place in fp32, of two in bf16

  /// Channels of the side that is not in vectors.
  TANDEM_INLINE int64_t rows() const { return vectorsOfOutputs ? order.inputs : order.outputs; }
  TANDEM_INLINE int64_t columns() const { return vectorsOfOutputs ? order.outputs : order.inputs; }
};

/// Words of 4 bytes that a call packs in a step, with so many rows.
inline int64_t wordsOfStep(const WeightGradient& gradient, int64_t rows) {
  const int64_t lanes = vectorLanes();
  return (rows + lanes - 1) / lanes * lanes + (gradient.columns() + lanes - 1) / lanes * lanes;
}

/// The sums of rows [first, last), where `first` begins a vector (kernels/simd/isa_dispatch.h). `scratch`: stepsAtOnce
/// * wordsOfStep(last - first) words. Each value is summed in one order, whatever rows a call serves.
using Sums = void (*)(const WeightGradient& gradient, int64_t first, int64_t last, void* scratch);

/// What packed_product_lanes.cpp computes with each kind of vectors.
struct Kernels {
  Sums ofFp32;

  template <Isa>
  static Kernels with();
};

namespace cpu {
/// By VDPBF16PS, which adds two products to an fp32 sum and takes denormals for zero. REQUIRES: takesBf16().
void sumsOfBf16(const WeightGradient& gradient, int64_t first, int64_t last, void* scratch);
/// Whether the processor has AVX512_BF16.
bool takesBf16();
}  // namespace cpu

}  // namespace tandem::packed
