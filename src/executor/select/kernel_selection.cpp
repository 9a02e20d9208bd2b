#include "executor/select/kernel_selection.h"

#include <tuple>

#include "graph/operation.h"

namespace tandem {

namespace {

template <class Choice>
Choice of(const std::vector<Choice>& byNode, NodeId node) {
  return byNode.empty() ? Choice{} : byNode.at(static_cast<size_t>(node));
}

}  // namespace

PassAlgorithms KernelSelection::algorithmsOf(NodeId node) const { return of(algorithms, node); }
PassPlans KernelSelection::enginesOf(NodeId node) const { return of(engines, node); }
NormPlans KernelSelection::normsOf(NodeId node) const { return of(norms, node); }

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
    if (!node.operation->traits.convolution) continue;
    for (size_t pass = 0; pass < std::tuple_size_v<PassAlgorithms>; ++pass) {
      const bool wanted = pass != 1 || node.inputs.front() != graph.input();
      if (wanted) ++passes[std::string(nameOf(i, pass))];
    }
  }
  return passes;
}

}  // namespace tandem
