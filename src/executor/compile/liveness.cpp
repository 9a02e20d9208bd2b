#include "executor/compile/liveness.h"

#include <c10/core/ScalarType.h>

#include <algorithm>

#include "executor/executor.h"
#include "executor/planned_operation.h"
#include "graph/operation.h"

namespace tandem {

Activations activationsOf(const Graph& graph, std::span<const PlannedNode> plan, const ExecutorOptions& options) {
  const size_t values = graph.nodes().size();
  const auto at = [](NodeId value) { return static_cast<size_t>(value); };
  const auto element = static_cast<int64_t>(c10::elementSize(options.compute));
  Activations found{plan, {}, std::vector<int>(values, -1), std::vector<int>(values, -1), {}};
  for (const Node& node : graph.nodes()) found.bytes.push_back(node.shape.count() * element);
  const ImageShape& image = graph.node(graph.input()).shape;
  found.bytes[at(graph.input())] += options.kernels.zeroChannels * image.height * image.width * element;
  std::vector<bool> trained(values, false), hasGradient(values, false);
  for (const Parameter& parameter : graph.parameters()) trained[at(parameter.node)] = true;
  for (size_t i = 0; i < plan.size(); ++i) {
    const PlannedNode& call = plan[i];
    OpLiveness own;
    own.operation = graph.node(call.node).operation;
    const bool followsOne = std::ranges::any_of(call.inputs, [&](NodeId input) { return hasGradient[at(input)]; });
    own.backward = followsOne || trained[at(call.node)];
    const KeptForBackward kept = keptForBackward(graph, call, options);
    own.onlyForwardKeeps = !hasPlannedBackward(own.operation->name) || kept.bytesPerValue > 0;
    if (own.backward && kept.input) own.read.push_back(call.inputs.front());
    if (own.backward && kept.otherInputs) own.read.insert(own.read.end(), call.inputs.begin() + 1, call.inputs.end());
    if (own.backward && kept.output) own.read.push_back(call.output);
    const ImageShape& shape = graph.node(call.output).shape;
    if (own.backward) own.ownBytes = shape.count() * kept.bytesPerValue;
    for (const NodeId input : call.inputs) found.lastReader[at(input)] = static_cast<int>(i);
    found.maker[at(call.output)] = static_cast<int>(i);
    hasGradient[at(call.output)] = own.backward;
    found.calls.push_back(std::move(own));
  }
  return found;
}

}  // namespace tandem
