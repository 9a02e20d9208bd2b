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

/// Names of a pair of engines, for batches of `images`; of none: Tandem's kernels.
struct NormPlans {
  int64_t images = 0;
  std::string forward = {}, backward = {};

  bool operator==(const NormPlans&) const = default;
};

/// normAct() and its backward in training by engines, with a mask of the ReLU instead of the output. They are made at
/// the first call for a shape, which therefore must not be recorded. For one thread.
class CudnnBatchNorm {
 public:
  explicit CudnnBatchNorm(NormPlans chosen, NormPlansOf plansOf = cudnnNormPlans)
      : chosen_(std::move(chosen)), enginesOf_(std::move(plansOf)) {}

  /// Whether the pair computes what normAct() is asked for. Where it was chosen for that but one of the two is missing
  /// here, a warning tells of it.
  bool serves(const at::Tensor& x, const at::Tensor& residual, const NormParameters& parameters,
              const NormActOptions& options);

  /// REQUIRES: serves(), just before.
  at::Tensor forward(const at::Tensor& x, const at::Tensor& residual, const NormParameters& parameters,
                     const NormActOptions& options, NormActSaved& saved);

  /// REQUIRES: `saved` is what forward() left.
  NormActGradients backward(std::vector<at::Tensor> outputGradients, const NormActSaved& saved, bool hasResidual,
                            const NormActOptions& options);

 private:
  using Pair = std::pair<BuiltPlan, BuiltPlan>;  // forward, backward
  const Pair& pairFor(NormProblem problem);

  NormPlans chosen_;
  NormPlansOf enginesOf_;
  std::map<std::array<int64_t, 5>, Pair> made_;  // by x's shape, and whether there is a residual
};

/// Of x [N, C, H, W].
NormProblem normProblemOf(bool backward, const at::Tensor& x, bool hasResidual, const NormActOptions& options);

/// What a call reads and writes, in the order of cudnnNormPlans(): forward into `saved`, whose running statistics are
/// written beside the old ones, backward into `result`.
struct NormCall {
  std::vector<at::Tensor> tensors;
  at::Tensor runningMean, runningVar;  ///< forward: the new ones
};
NormCall normForwardCall(const at::Tensor& x, const at::Tensor& residual, const at::Tensor& y, NormActSaved& saved);
NormCall normBackwardCall(const at::Tensor& dy, const NormActSaved& saved, bool hasResidual, NormActGradients& result);

/// Memory to try a batch-norm in.
struct NormSubject {
  at::Tensor x, residual, dy;  ///< residual undefined: none
  NormParameters parameters;
  NormActOptions options;
};

constexpr std::string_view ownKernels = "Tandem's kernels";

/// The kernels, then the engines. An engine is right whose results are those of the kernels up to rounding.
std::vector<TuningCandidate> normForwardCandidates(const NormSubject& subject, std::shared_ptr<ExecutionPlans> engines);

/// The same of backward. `forward` runs an engine over normForwardCall()'s tensors.
using RunForward = std::function<void(std::span<const at::Tensor>)>;
std::vector<TuningCandidate> normBackwardCandidates(const NormSubject& subject, const RunForward& forward,
                                                    std::shared_ptr<ExecutionPlans> engines);

}  // namespace tandem
