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

/// Enqueues an engine that prepare() gave these bytes for, with workspace of libtorch's allocator on the tensors'
/// device. An undefined tensor is a null pointer.
void executePlan(ExecutionPlans& engines, size_t engine, int64_t workspaceBytes, std::span<const at::Tensor> tensors);

/// An engine that is ready to run, or none.
struct BuiltPlan {
  std::unique_ptr<ExecutionPlans> engines;  ///< null: none
  size_t engine = 0;
  int64_t workspaceBytes = 0;

  void run(std::span<const at::Tensor> tensors) const { executePlan(*engines, engine, workspaceBytes, tensors); }
};

/// The one of that name. Where it does not serve a warning says so, and that `instead` runs.
BuiltPlan buildPlan(std::unique_ptr<ExecutionPlans> engines, const std::string& name, const std::string& operation,
                    const std::string& instead);

/// Adds the engines to an operation's candidates, over the tensors that `tensors` gives at each run.
void addPlans(std::vector<TuningCandidate>& candidates, const std::shared_ptr<ExecutionPlans>& engines,
              const std::function<std::span<const at::Tensor>()>& tensors, const std::function<bool()>& isRight);

/// Where engines ask for memory to begin; undefined tensors do.
bool areAligned(std::span<const at::Tensor> tensors);

/// To within 2 % of the norm of what is expected: orders of summation differ, and so do roundings; a wrong result is
/// another one altogether. Waits for the device.
bool isNear(const at::Tensor& result, const at::Tensor& expected);

}  // namespace tandem
