#pragma once

#include "kernels/simd/element.h"
#include "kernels/simd/image_strides.h"
#include "kernels/simd/isa_dispatch.h"

/// The gradient of a convolution's weight. For each tap it is a matrix product,
///
///   sum[o, i] = sum over places p of dy[p, o] * x[pixel of p through the tap, i],
///
/// where a place is a pixel of an output. Some places at a time, both sides are packed into the order that the product
/// reads. They may lie in any order; no im2col matrix is made.
namespace tandem::packed {

struct WeightGradient {
  const void *x, *dy;  ///< of the same type
  ImageOrder xOrder, dyOrder;
  int64_t kernelH, kernelW, strideH, strideW, top, left;
  float* sum;  ///< the result, in the order `order`
  WeightOrder order;
  bool vectorsOfOutputs;  ///< whether a vector in `sum` holds outputs (order.output is 1); else it holds inputs
  int64_t stepsAtOnce;    ///< steps packed at a time; a step is one place in fp32, two in bf16

  /// Channels of the side that is not held in vectors.
  TANDEM_INLINE int64_t rows() const { return vectorsOfOutputs ? order.inputs : order.outputs; }
  TANDEM_INLINE int64_t columns() const { return vectorsOfOutputs ? order.outputs : order.inputs; }
};

/// The number of 4-byte words that a call packs per step, with `rows` rows.
inline int64_t wordsOfStep(const WeightGradient& gradient, int64_t rows) {
  const int64_t lanes = vectorLanes();
  return (rows + lanes - 1) / lanes * lanes + (gradient.columns() + lanes - 1) / lanes * lanes;
}

/// Computes the sums of rows [first, last); `first` begins a vector (kernels/simd/isa_dispatch.h). `scratch` has
/// stepsAtOnce * wordsOfStep(last - first) words. The order of each sum is fixed, whatever rows a call computes.
using Sums = void (*)(const WeightGradient& gradient, int64_t first, int64_t last, void* scratch);

/// The functions of isa/wgrad_gemm.cpp for one instruction set.
struct Kernels {
  Sums ofFp32;

  template <Isa>
  static Kernels with();
};

namespace cpu {
/// Uses VDPBF16PS, which adds two products to an fp32 sum and treats subnormals as zero. REQUIRES: takesBf16().
void sumsOfBf16(const WeightGradient& gradient, int64_t first, int64_t last, void* scratch);
/// Whether the processor has AVX512_BF16.
bool takesBf16();
}  // namespace cpu

}  // namespace tandem::packed
