#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "autotune/tuner.h"
#include "kernels/cudnn/built_plan.h"
#include "kernels/cudnn/norm_problem.h"
#include "kernels/norm/norm_act.h"

namespace tandem {

/// Names of a pair of execution plans, for batches of `images`; empty: Tandem's kernels.
struct NormPlans {
  int64_t images = 0;
  std::string forward = {}, backward = {};

  bool operator==(const NormPlans&) const = default;
};

/// normAct() and its backward in training with cuDNN's plans. They keep a mask of the ReLU instead of the output. Plans
/// are built at the first call for a shape, so that call must not be captured. For one thread.
class CudnnBatchNorm {
 public:
  explicit CudnnBatchNorm(NormPlans chosen, NormPlansOf plansOf = cudnnNormPlans)
      : chosen_(std::move(chosen)), enginesOf_(std::move(plansOf)) {}

  /// Whether the pair computes this call of normAct(). If it was chosen for the call but a plan is missing here, logs a
  /// warning.
  bool serves(const at::Tensor& x, const at::Tensor& residual, const NormParameters& parameters,
              const NormActOptions& options);

  /// REQUIRES: serves() was true just before.
  at::Tensor forward(const at::Tensor& x, const at::Tensor& residual, const NormParameters& parameters,
                     const NormActOptions& options, NormActSaved& saved);

  /// REQUIRES: `saved` was written by forward().
  NormActGradients backward(std::vector<at::Tensor> outputGradients, const NormActSaved& saved, bool hasResidual,
                            const NormActOptions& options);

 private:
  using Pair = std::pair<BuiltPlan, BuiltPlan>;  // forward, backward
  const Pair& pairFor(NormProblem problem);

  NormPlans chosen_;
  NormPlansOf enginesOf_;
  std::map<std::array<int64_t, 5>, Pair> made_;  // by shape of x, and whether there is a residual
};

/// `x`: [N, C, H, W].
NormProblem normProblemOf(bool backward, const at::Tensor& x, bool hasResidual, const NormActOptions& options);

/// The tensors of a call, in the order of cudnnNormPlans(). Forward writes into `saved`, and new running statistics
/// beside the old ones. Backward writes into `result`.
struct NormCall {
  std::vector<at::Tensor> tensors;
  at::Tensor runningMean, runningVar;  ///< forward: the new statistics
};
NormCall normForwardCall(const at::Tensor& x, const at::Tensor& residual, const at::Tensor& y, NormActSaved& saved);
NormCall normBackwardCall(const at::Tensor& dy, const NormActSaved& saved, bool hasResidual, NormActGradients& result);

/// Tensors for trials of a batch-norm.
struct NormSubject {
  at::Tensor x, residual;                   ///< residual undefined: none
  std::vector<at::Tensor> outputGradients;  ///< one from each reader of the output
  NormParameters parameters;
  NormActOptions options;
};

constexpr std::string_view ownKernels = "Tandem's kernels";

/// The kernels, then the plans. A plan is right if its results equal the kernels' up to rounding.
std::vector<TuningCandidate> normForwardCandidates(const NormSubject& subject, std::shared_ptr<ExecutionPlans> engines);

/// The same for backward. With several gradients the time of a plan includes their sum, which the kernels form in
/// passing. `forward` runs a plan with the tensors of normForwardCall().
using RunForward = std::function<void(std::span<const at::Tensor>)>;
std::vector<TuningCandidate> normBackwardCandidates(const NormSubject& subject, const RunForward& forward,
                                                    std::shared_ptr<ExecutionPlans> engines);

}  // namespace tandem
