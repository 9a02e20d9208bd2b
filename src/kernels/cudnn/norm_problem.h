#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kernels/cudnn/execution_plans.h"
#include "kernels/simd/element.h"

namespace tandem {

/// Batch-norm [+ residual] + ReLU over a batch in NHWC, in training, or its backward; statistics and what belongs to a
/// channel in fp32. Between them goes a mask of the ReLU, a bit per element, which only the library understands.
struct NormProblem {
  bool backward = false;
  Element type{};
  int64_t images = 0, channels = 0, height = 0, width = 0;
  bool residual = false;
  double epsilon = 1e-5, momentum = 0.1;

  int64_t elements() const { return images * channels * height * width; }
  int64_t maskBytes() const { return (elements() + 7) / 8; }
  /// All of it, in one line.
  std::string text() const;
};

/// Of cuDNN's graph API. Tensors forward: x, scale, shift, running mean and variance, residual (null without), y, mean,
/// 1 / sqrt(variance + epsilon), the new running mean and variance, mask; backward: dy, mask, x, scale, the mean and
/// the inverse deviation of forward, dx, gradients of scale and shift, the residual's gradient (null without). Null for
/// what it does not serve, and in a build without it. REQUIRES: a GPU.
std::unique_ptr<ExecutionPlans> cudnnNormPlans(const NormProblem& problem);

/// Where engines come from.
using NormPlansOf = std::function<std::unique_ptr<ExecutionPlans>(const NormProblem&)>;

}  // namespace tandem
