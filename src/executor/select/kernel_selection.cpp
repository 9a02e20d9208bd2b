#include "executor/select/kernel_selection.h"

#include <tuple>

#include "graph/operation.h"

namespace tandem {

ExecutorOptions executorOptions(const KernelSelection& kernels, const Precision& precision,
                                const RecomputeEntry& recompute, at::Device device) {
  return {.compute = precision.compute,
          .layout = *kernels.layout,
          .algorithms = kernels.algorithms,
          .engines = kernels.engines,
          .norms = kernels.norms,
          .device = device,
          .recompute = recompute,
          .zeroChannels = kernels.zeroChannels};
}

std::map<std::string, int64_t> passesOf(const KernelSelection& kernels, const Graph& graph) {
  std::map<std::string, int64_t> passes;
  if (kernels.algorithms.empty() && kernels.engines.empty()) return passes;
  const auto nameOf = [&](size_t node, size_t pass) -> std::string_view {
    if (kernels.engines.empty()) return kernels.algorithms[node][pass]->name;
    const PassPlans& engines = kernels.engines[node];
    if (pass == 0 && !engines.withStats.empty()) return "cuDNN with sums";
    return engines.names[pass] == atenName ? atenName : "cuDNN";
  };
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.operation->name != "conv") continue;
    for (size_t pass = 0; pass < std::tuple_size_v<PassAlgorithms>; ++pass) {
      const bool wanted = pass != 1 || node.inputs.front() != graph.input();
      if (wanted) ++passes[std::string(nameOf(i, pass))];
    }
  }
  return passes;
}

}  // namespace tandem
