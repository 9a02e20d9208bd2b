#pragma once

#include <cstdint>
#include <initializer_list>

#include "kernels/norm/activation.h"
#include "kernels/simd/element.h"
#include "kernels/simd/isa_dispatch.h"

namespace tandem {

/// Rows of `columns` values. Normally a column is a channel. Short rows are joined k at a time; then columns repeat
/// every C values, and so do per-column values. If rows hold different groups of channels, per-column values are stored
/// group after group. A call handles rows of one group: the first, or that of ofGroup() or ofBlock().
struct NormStatisticsArguments {
  const void* x;
  Element type;
  int64_t columns;
};

/// Batch-norm [+ residual] [+ activation]; beside a residual ReLU or none.
struct NormActArguments {
  const void* x;
  const void* residual;  ///< null: none
  void* y;
  Element type;
  int64_t columns;
  const float *factor, *offset;  ///< per column: y = x * factor + offset
  Activation activation;

  NormActArguments ofGroup(int64_t group) const {
    NormActArguments other = *this;
    for (const float** values : {&other.factor, &other.offset}) *values += group * columns;
    return other;
  }
};

struct NormActGradientArguments {
  const void* gradients[2];  ///< of the output, which are added; the second may be null
  const float* ofImage;      ///< per column of an image: a further gradient of each of its rows; null: none
  const void* x;
  const void* y;  ///< the output, which gives a ReLU's mask; null: recomputed from x, factor and offset
  void* masked;   ///< the gradient before the activation, also the residual's; null: not kept. May be gradients[0]
  void* dx;       ///< may be gradients[0]
  Element type;
  int64_t columns;
  Activation activation;
  const float *factor, *offset, *mean;  ///< per column, as in forward
  /// dx = (g - bias) * factor + (x - mean) * slope, where g is the gradient before the activation. Both are zero in
  /// evaluation.
  const float *bias, *slope;  ///< per column

  NormActGradientArguments ofGroup(int64_t group) const {
    NormActGradientArguments other = *this;
    for (const float** values : {&other.factor, &other.offset, &other.mean, &other.bias, &other.slope}) {
      if (*values) *values += group * columns;
    }
    return other;
  }

  /// `block`: the number of the image, or if it has several groups, of the group among those of all images.
  NormActGradientArguments ofBlock(int64_t block, int64_t group) const {
    NormActGradientArguments other = ofGroup(group);
    if (other.ofImage) other.ofImage += block * columns;
    return other;
  }
};

/// The functions of isa/norm_act.cpp for one instruction set.
struct NormKernels {
  /// Mean, and sum of squared deviations from it, per column over rows [first, last).
  void (*statistics)(const NormStatisticsArguments& arguments, int64_t first, int64_t last, float* mean,
                     float* squares);

  /// Computes y of rows [first, last).
  void (*apply)(const NormActArguments& arguments, int64_t first, int64_t last);

  /// Sums g and g * (x - mean) per column over rows [first, last). Writes g to `masked`, unless null.
  void (*sums)(const NormActGradientArguments& arguments, int64_t first, int64_t last, float* sum, float* product);

  /// Computes dx of rows [first, last); reads g from `masked`, unless null.
  void (*gradient)(const NormActGradientArguments& arguments, int64_t first, int64_t last);

  template <Isa>
  static NormKernels with();
};

}  // namespace tandem
