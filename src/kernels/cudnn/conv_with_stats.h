#pragma once

#include <memory>
#include <string>
#include <vector>

#include "autotune/tuner.h"
#include "kernels/cudnn/conv.h"
#include "kernels/norm/norm_act.h"

namespace tandem {

/// Memory to try a convolution and the batch-norm behind it in, forward in training.
struct StatsSubject {
  std::shared_ptr<Convolution> convolution;  ///< as it runs without sums; engines are compared with it
  std::string name;                          ///< of what computes it
  ConvolutionTensors tensors;                ///< sums among them
  at::Tensor residual;                       ///< of the batch-norm; undefined: none
  NormParameters parameters;                 ///< whose running statistics trials change
  NormActOptions options;
};

/// The convolution and then normAct(), "apart, by " its name; then for each engine, under its name, the convolution
/// with sums and what of normAct() is left to do. An engine is right whose output, and mean and variance by its sums,
/// are those of the convolution up to rounding.
std::vector<TuningCandidate> statsCandidates(const StatsSubject& subject,
                                             const std::shared_ptr<ExecutionPlans>& engines);

}  // namespace tandem
