#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kernels/cudnn/execution_plans.h"
#include "kernels/simd/element.h"

namespace tandem {

/// Batch-norm [+ residual] + ReLU over a batch in NHWC, in training, or its backward; per-channel values are fp32.
/// Forward passes a mask of the ReLU to backward, one bit per element, in a format that only the library understands.
struct NormProblem {
  bool backward = false;
  Element type{};
  int64_t images = 0, channels = 0, height = 0, width = 0;
  bool residual = false;
  double epsilon = 1e-5, momentum = 0.1;

  int64_t elements() const { return images * channels * height * width; }
  int64_t maskBytes() const { return (elements() + 7) / 8; }
  /// All members in one line.
  std::string text() const;
};

/// Plans of cuDNN's graph API. Null for a problem that it does not support, and in a build without it. REQUIRES: a GPU.
/// Tensors in order, null where there is no residual:
/// - forward: x, scale, shift, running mean and variance, residual, y, mean, 1 / sqrt(variance + epsilon), the new
///   running mean and variance, mask
/// - backward: dy, mask, x, scale, forward's mean and inverse deviation, dx, gradients of scale and shift, gradient of
///   the residual
std::shared_ptr<ExecutionPlans> cudnnNormPlans(const NormProblem& problem);

/// The source of plans.
using NormPlansOf = std::function<std::shared_ptr<ExecutionPlans>(const NormProblem&)>;

}  // namespace tandem
