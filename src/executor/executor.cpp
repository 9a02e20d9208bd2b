#include "executor/executor.h"

#include <algorithm>
#include <array>

#include "executor/autograd_executor.h"
#include "executor/planned_executor.h"

namespace tandem {
namespace {

constexpr std::array<ExecutorEntry, 2> rows{{
    {"autograd", "each node is an ATen call, backward by libtorch's autograd", makeAutogradExecutor},
    {"planned", "fused operations, forward and backward called in a fixed order", makePlannedExecutor},
}};

}  // namespace

std::span<const ExecutorEntry> executors() { return rows; }

std::vector<ParameterSpec> parameterSpecs(const Graph& graph) {
  std::vector<ParameterSpec> specs;
  for (const Parameter& parameter : graph.parameters()) {
    const bool norm = parameter.role == ParameterRole::normScale || parameter.role == ParameterRole::normShift;
    specs.push_back({parameter.name, parameter.shape, norm});
  }
  std::reverse(specs.begin(), specs.end());
  return specs;
}

}  // namespace tandem
