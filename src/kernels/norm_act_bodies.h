#pragma once

#include <cstdint>

#include "kernels/bf16.h"

namespace tandem {

/// Rows of `columns` values. A column is a channel, or one of several equal stretches of a row when rows are so short
/// that the caller joins a few; per-column values then repeat.
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
  const float *factor, *offset;  ///< [columns]: y = x * factor + offset
  bool relu;
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
  const float *factor, *offset, *mean;  ///< [columns], as in forward
  /// dx = (g - bias) * factor + (x - mean) * slope, with g the masked gradient. Both zero in evaluation.
  const float *bias, *slope;  ///< [columns]
};

namespace cpu {

/// Mean, and sum of squared deviations from it, of each column over rows [first, last).
void normStatistics(const NormStatisticsArguments& arguments, int64_t first, int64_t last, float* mean, float* squares);

/// y of rows [first, last).
void normAct(const NormActArguments& arguments, int64_t first, int64_t last);

/// Over rows [first, last): sum of g, and of g * (x - mean), per column; g goes to `masked` where that is kept.
void normActSums(const NormActGradientArguments& arguments, int64_t first, int64_t last, float* sum, float* product);

/// dx of rows [first, last); g comes from `masked` where that is kept.
void normActGradient(const NormActGradientArguments& arguments, int64_t first, int64_t last);

}  // namespace cpu

}  // namespace tandem
