#pragma once

#include <cstdint>

#include "kernels/simd/element.h"

namespace tandem {

struct SoftmaxCrossEntropyArguments {
  const void* logits;     ///< [rows, classes]
  const int64_t* labels;  ///< [rows]
  void* gradient;         ///< like logits
  Element type;
  int64_t rows, classes;
  float smoothing;
  float factor;    ///< the gradient's: 1 / divisor
  double* losses;  ///< [rows]
};

namespace cpu {
/// Rows [first, last). REQUIRES: labels in [0, classes). `scratch` holds `classes` floats.
void softmaxCrossEntropy(const SoftmaxCrossEntropyArguments& arguments, int64_t first, int64_t last, float* scratch);
}  // namespace cpu

namespace gpu {
/// Computes all rows and writes their mean into `loss`. A label out of range makes the loss NaN.
void softmaxCrossEntropy(const SoftmaxCrossEntropyArguments& arguments, float* loss, void* stream);
}  // namespace gpu

}  // namespace tandem
