#pragma once

#include <cstdint>

#include "kernels/simd/element.h"
#include "kernels/simd/isa_dispatch.h"

namespace tandem {

/// Pixels whose `columns` channels lie side by side. scale, shift and what is per pixel are fp32.
struct LayerNormArguments {
  Element type;
  int64_t columns;
  const void* x;
  const float *scale, *shift;  ///< per column
  float epsilon;
  void* y;
  float *mean, *inverseDeviation;  ///< per pixel: written
};

struct LayerNormGradientArguments {
  Element type;
  int64_t columns;
  const void* x;
  const float* scale;
  const float *mean, *inverseDeviation;
  const void* gradient;
  void* dx;  ///< may be gradient
};

/// The functions of isa/transformer.cpp for one instruction set.
struct TransformerKernels {
  /// Computes y of rows [first, last), and their means and 1 / sqrt(variance + epsilon).
  void (*layerNorm)(const LayerNormArguments& arguments, int64_t first, int64_t last);

  /// Computes dx of rows [first, last), and sums the gradients of scale and shift over them.
  void (*layerNormGradient)(const LayerNormGradientArguments& arguments, int64_t first, int64_t last, float* scaleSum,
                            float* shiftSum);

  void (*gelu)(Element type, int64_t count, const void* x, void* y);

  /// Computes dx, which may be `gradient`.
  void (*geluGradient)(Element type, int64_t count, const void* gradient, const void* x, void* dx);

  template <Isa>
  static TransformerKernels with();
};

}  // namespace tandem
