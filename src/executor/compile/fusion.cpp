#include "executor/compile/fusion.h"

#include <algorithm>
#include <optional>

#include "graph/operation.h"
#include "kernels/norm/norm_act.h"

namespace tandem {
namespace {

class Fusion {
 public:
  Fusion(const Graph& graph, at::Device device)
      : graph_(graph), device_(device), uses_(graph.nodes().size(), 0), gone_(graph.nodes().size()) {
    for (const Node& node : graph.nodes()) {
      for (const NodeId input : node.inputs) ++uses_[index(input)];
    }
    for (const NodeId output : graph.outputs()) ++uses_[index(output)];
  }

  // Fusion starts at the last node of a pattern, so the output of the fused call keeps its place in the order.
  std::vector<PlannedNode> run() {
    const auto count = static_cast<NodeId>(graph_.nodes().size());
    std::vector<std::optional<PlannedNode>> fused(index(count));
    for (NodeId id = 1; id < count; ++id) fused[index(id)] = endingAt(id);
    std::vector<PlannedNode> plan;
    for (NodeId id = 1; id < count; ++id) {
      if (gone_[index(id)]) continue;
      plan.push_back(fused[index(id)].value_or(PlannedNode{id, graph_.node(id).inputs, id}));
      plan.back().readers = uses_[index(plan.back().output)];
      plan.back().afterConvolution = isAfterConvolution(plan.back());
    }
    return plan;
  }

 private:
  static size_t index(NodeId id) { return static_cast<size_t>(id); }
  bool is(NodeId id, std::string_view operation) const { return graph_.node(id).operation->name == operation; }
  bool isNormReadOnce(NodeId id) const { return is(id, "batch_norm") && uses_[index(id)] == 1; }
  bool isAfterConvolution(const PlannedNode& call) const {
    return is(call.node, "batch_norm") && is(call.inputs.front(), "conv") && uses_[index(call.inputs.front())] == 1;
  }

  // activation <- batch_norm, or relu <- add <- batch_norm, if nobody else reads the values between.
  std::optional<PlannedNode> endingAt(NodeId last) {
    const Activation activation = activationOf(graph_.node(last).operation->name);
    if (activation == Activation::none || !normActHas(activation, device_)) return std::nullopt;
    const NodeId before = graph_.node(last).inputs.front();
    if (isNormReadOnce(before)) return fusedNode(before, graph_.node(before).inputs, last, activation);
    const Node& add = graph_.node(before);
    if (activation != Activation::relu || !is(before, "add") || uses_[index(before)] != 1 || add.inputs.size() != 2)
      return std::nullopt;
    // Of two batch-norms the later one: backward then meets the parameters in the order of the flat buffers.
    const auto [first, second] = std::minmax(add.inputs[0], add.inputs[1]);
    if (!isNormReadOnce(second) && !isNormReadOnce(first)) return std::nullopt;
    const NodeId norm = isNormReadOnce(second) ? second : first;
    gone_[index(before)] = true;
    return fusedNode(norm, {graph_.node(norm).inputs.front(), norm == second ? first : second}, last, activation);
  }

  PlannedNode fusedNode(NodeId norm, std::vector<NodeId> inputs, NodeId last, Activation activation) {
    gone_[index(norm)] = true;
    return {norm, std::move(inputs), last, activation};
  }

  const Graph& graph_;
  at::Device device_;
  std::vector<int> uses_;
  std::vector<bool> gone_;
};

}  // namespace

std::vector<PlannedNode> fuse(const Graph& graph, at::Device device) { return Fusion(graph, device).run(); }

}  // namespace tandem
