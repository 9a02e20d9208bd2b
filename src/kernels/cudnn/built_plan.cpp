#include "kernels/cudnn/built_plan.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/text.h"

namespace tandem {

void executePlan(ExecutionPlans& engines, size_t engine, int64_t workspaceBytes, std::span<const at::Tensor> tensors) {
  const at::Tensor workspace = at::empty({workspaceBytes}, tensors.front().options().dtype(at::kByte));
  std::vector<void*> memory;
  for (const at::Tensor& tensor : tensors) memory.push_back(tensor.defined() ? tensor.data_ptr() : nullptr);
  engines.run(engine, memory, workspaceBytes > 0 ? workspace.data_ptr() : nullptr);
}

BuiltPlan buildPlan(std::shared_ptr<ExecutionPlans> engines, const std::string& name, const std::string& operation,
                    const std::string& instead) {
  if (engines) {
    const auto names = engines->names();
    const auto engine = static_cast<size_t>(std::ranges::find(names, name) - names.begin());
    const auto bytes = engine < names.size() ? engines->prepare(engine) : std::nullopt;
    if (bytes) return {std::move(engines), engine, *bytes};
  }
  logWarning(concat(operation, ": the engine ", name, " that was measured does not serve here; ", instead, " runs"));
  return {};
}

void addPlans(std::vector<TuningCandidate>& candidates, const std::shared_ptr<ExecutionPlans>& engines,
              const std::function<std::span<const at::Tensor>()>& tensors, const std::function<bool()>& isRight) {
  for (size_t i = 0; i < engines->names().size(); ++i) {
    const auto bytes = std::make_shared<int64_t>(0);
    const auto prepare = [=] {
      const std::optional<int64_t> needed = engines->prepare(i);
      *bytes = needed.value_or(0);
      return needed;
    };
    candidates.push_back({engines->names()[i], prepare, [=] { executePlan(*engines, i, *bytes, tensors()); }, isRight});
  }
}

bool areAligned(std::span<const at::Tensor> tensors) {
  return std::ranges::all_of(tensors, [](const at::Tensor& tensor) {
    return !tensor.defined() || reinterpret_cast<uintptr_t>(tensor.const_data_ptr()) % planAlignment == 0;
  });
}

bool isNear(const at::Tensor& result, const at::Tensor& expected) {
  constexpr double allowed = 0.02;
  const auto norm = [](const at::Tensor& t) {
    return at::linalg_vector_norm(t, 2, std::nullopt, false, at::kFloat).item<double>();
  };
  return norm(result - expected) <= allowed * norm(expected);  // false if either is NaN
}

}  // namespace tandem
