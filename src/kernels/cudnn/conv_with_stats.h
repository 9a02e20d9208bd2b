#pragma once

#include <memory>
#include <vector>

#include "autotune/tuner.h"
#include "kernels/cudnn/conv.h"
#include "kernels/norm/norm_act.h"

namespace tandem {

/// Tensors for trials of a convolution and the batch-norm that follows, forward in training.
struct StatsSubject {
  std::shared_ptr<Convolution> convolution;  ///< without statistics; plans are compared with it
  ConvolutionTensors tensors;                ///< with statistics
  at::Tensor residual;                       ///< the batch-norm's; undefined: none
  NormParameters parameters;                 ///< trials change its running statistics
  NormActOptions options;
};

/// First the candidate "apart, by ATen": the convolution, then normAct(). Then for each plan: the convolution with
/// statistics, then the rest of normAct(). A plan is right if its output, and the mean and variance from its
/// statistics, equal those of the convolution up to rounding.
std::vector<TuningCandidate> statsCandidates(const StatsSubject& subject,
                                             const std::shared_ptr<ExecutionPlans>& engines);

}  // namespace tandem
