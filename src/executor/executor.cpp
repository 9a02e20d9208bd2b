#include "executor/executor.h"

#include <algorithm>
#include <array>

#include "executor/autograd_executor.h"
#include "executor/planned_executor.h"
#include "kernels/convolution.h"

namespace tandem {
namespace {

constexpr std::array<ExecutorEntry, 2> rows{{
    {"autograd", "each node is an ATen call, backward by libtorch's autograd", makeAutogradExecutor, false},
    {"planned", "fused operations, forward and backward called in a fixed order", makePlannedExecutor, true},
}};

}  // namespace

std::span<const ExecutorEntry> executors() { return rows; }

bool serves(const ExecutorEntry& executor, const LayoutEntry& layout, at::Device device) {
  return !layout.blocked || (executor.blocks && device.is_cpu() && !convolutionLibrary().empty());
}

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
