#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "autotune/tuner.h"
#include "kernels/cudnn/execution_plans.h"

namespace tandem {

/// Enqueues a plan for which prepare() returned `workspaceBytes`. libtorch's allocator provides the workspace on the
/// tensors' device. An undefined tensor is passed as a null pointer.
void executePlan(ExecutionPlans& engines, size_t engine, int64_t workspaceBytes, std::span<const at::Tensor> tensors);

/// A plan that is ready to run, or none.
struct BuiltPlan {
  std::shared_ptr<ExecutionPlans> engines;  ///< null: none
  size_t engine = 0;
  int64_t workspaceBytes = 0;

  void run(std::span<const at::Tensor> tensors) const { executePlan(*engines, engine, workspaceBytes, tensors); }
};

/// Builds the plan of that name. If it is not available, logs a warning that `instead` runs, and returns none.
BuiltPlan buildPlan(std::shared_ptr<ExecutionPlans> engines, const std::string& name, const std::string& operation,
                    const std::string& instead);

/// Adds the plans to an operation's candidates. `tensors` returns the tensors of each run.
void addPlans(std::vector<TuningCandidate>& candidates, const std::shared_ptr<ExecutionPlans>& engines,
              const std::function<std::span<const at::Tensor>()>& tensors, const std::function<bool()>& isRight);

/// True if every tensor is 16-byte aligned, as cuDNN requires; undefined tensors count as aligned.
bool areAligned(std::span<const at::Tensor> tensors);

/// Whether the difference is within 2 % of the norm of `expected`. Correct results differ by the order of summation and
/// by roundings; a wrong result differs far more. Waits for the device.
bool isNear(const at::Tensor& result, const at::Tensor& expected);

}  // namespace tandem
