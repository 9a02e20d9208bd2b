#pragma once

#include <cstdint>
#include <initializer_list>

#include "kernels/simd/element.h"
#include "kernels/simd/isa_dispatch.h"

namespace tandem {

/// Rows of `columns` values. A column is a channel, or one of several equal stretches of a row when rows are so short
/// that the caller joins a few; per-column values then repeat. Where rows hold different groups of channels, per-column
/// values stand group after group; a call serves rows of one group, the first unless ofGroup() chose another.
struct NormStatisticsArguments {
  const void* x;
  Element type;
  int64_t columns;
};

/// Batch-norm [+ residual] [+ ReLU].
struct NormActArguments {
  const void* x;
  const void* residual;  ///< null: none
  void* y;
  Element type;
  int64_t columns;
  const float *factor, *offset;  ///< per column: y = x * factor + offset
  bool relu;

  NormActArguments ofGroup(int64_t group) const {
    NormActArguments other = *this;
    for (const float** values : {&other.factor, &other.offset}) *values += group * columns;
    return other;
  }
};

struct NormActGradientArguments {
  const void* gradients[2];  ///< of the output, to be added; the second may be null
  const void* x;
  const void* y;  ///< the output, where the ReLU's mask is read from it; null: recomputed from x, factor and offset
  void* masked;   ///< the gradient before the ReLU, which is the residual's too; null: not kept. May be gradients[0]
  void* dx;       ///< may be gradients[0]
  Element type;
  int64_t columns;
  bool relu;
  const float *factor, *offset, *mean;  ///< per column, as in forward
  /// dx = (g - bias) * factor + (x - mean) * slope, with g the masked gradient. Both zero in evaluation.
  const float *bias, *slope;  ///< per column

  NormActGradientArguments ofGroup(int64_t group) const {
    NormActGradientArguments other = *this;
    for (const float** values : {&other.factor, &other.offset, &other.mean, &other.bias, &other.slope}) {
      if (*values) *values += group * columns;
    }
    return other;
  }
};

/// What norm_act_lanes.cpp computes with each kind of vectors.
struct NormKernels {
  /// Mean, and sum of squared deviations from it, of each column over rows [first, last).
  void (*statistics)(const NormStatisticsArguments& arguments, int64_t first, int64_t last, float* mean,
                     float* squares);

  /// y of rows [first, last).
  void (*apply)(const NormActArguments& arguments, int64_t first, int64_t last);

  /// Over rows [first, last): sum of g, and of g * (x - mean), per column; g goes to `masked` where that is kept.
  void (*sums)(const NormActGradientArguments& arguments, int64_t first, int64_t last, float* sum, float* product);

  /// dx of rows [first, last); g comes from `masked` where that is kept.
  void (*gradient)(const NormActGradientArguments& arguments, int64_t first, int64_t last);

  template <Isa>
  static NormKernels with();
};

}  // namespace tandem
