#include "executor/compile/layout_assignment.h"

#include <algorithm>

#include "graph/operation.h"
#include "kernels/conv/nchwc.h"

namespace tandem {
namespace {

OpLayout layoutOf(const Graph& graph, const PlannedNode& call, const std::vector<bool>& blocked) {
  const Node& node = graph.node(call.node);
  const auto isBlocked = [&](NodeId value) { return blocked[static_cast<size_t>(value)]; };
  bool input = false, output = false;
  if (node.operation->traits.convolution) {
    const int64_t inputs = graph.inputShapes(node).front().channels;
    const BlockedSides sides = blockedSides(inputs, node.attributes.outputs, node.attributes.groups);
    input = sides.input, output = sides.output;
  } else if (node.operation->traits.channelwise) {
    input = output = std::ranges::any_of(call.inputs, isBlocked);
  }
  return {std::vector<bool>(call.inputs.size(), input), output};
}

}  // namespace

std::vector<OpLayout> blockedLayouts(const Graph& graph, std::span<const PlannedNode> plan) {
  std::vector<bool> blocked(graph.nodes().size(), false);
  std::vector<OpLayout> layouts;
  for (const PlannedNode& call : plan) {
    layouts.push_back(layoutOf(graph, call, blocked));
    blocked[static_cast<size_t>(call.output)] = layouts.back().output;
  }
  return layouts;
}

}  // namespace tandem
