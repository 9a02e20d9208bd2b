#include "executor/plan_description.h"

#include <c10/core/ScalarType.h>

#include <algorithm>

#include "base/text.h"
#include "executor/fusion.h"
#include "executor/planned_operation.h"
#include "executor/value_layout.h"
#include "graph/operation.h"

namespace tandem {
namespace {

constexpr int64_t indexBytes = 8;  // of a maximum's place in its window

/// What lives how long.
class Lifetimes {
 public:
  Lifetimes(const Graph& graph, std::span<const PlannedNode> plan)
      : lastUse_(graph.nodes().size(), -1), kept_(graph.nodes().size(), false) {
    for (size_t i = 0; i < plan.size(); ++i) {
      const KeptForBackward kept = keptForBackward(graph.node(plan[i].node), plan[i]);
      for (const NodeId input : plan[i].inputs) lastUse_[at(input)] = static_cast<int>(i);
      if (kept.input) kept_[at(plan[i].inputs.front())] = true;
      if (kept.output) kept_[at(plan[i].output)] = true;
    }
  }
  bool kept(NodeId value) const { return kept_[at(value)]; }
  /// Freed after call number `call`.
  bool endsAfter(NodeId value, size_t call) const {
    return !kept(value) && lastUse_[at(value)] == static_cast<int>(call);
  }

 private:
  static size_t at(NodeId id) { return static_cast<size_t>(id); }
  std::vector<int> lastUse_;
  std::vector<bool> kept_;
};

std::string operationText(const Graph& graph, const PlannedNode& call) {
  std::string text(graph.node(call.node).operation->name);
  if (!call.relu) return text;
  return text + (call.hasResidual() ? " + add + relu" : " + relu");
}

int64_t parametersOf(const Graph& graph, NodeId node) {
  int64_t count = 0;
  for (const Parameter& parameter : graph.parameters()) count += parameter.node == node ? parameter.count() : 0;
  return count;
}

/// Forward, gradient of the input, gradient of the parameters.
std::string algorithmText(const PassAlgorithms& algorithms) {
  std::vector<std::string> names;
  for (const ConvolutionAlgorithm* algorithm : algorithms) {
    names.emplace_back((algorithm == nullptr ? convolutionAlgorithms().front() : *algorithm).name);
  }
  const bool same = std::ranges::all_of(names, [&](const std::string& name) { return name == names.front(); });
  return same ? names.front() : join(names);
}

CallDescription described(const Graph& graph, const PlannedNode& call, int64_t images) {
  const Node& node = graph.node(call.node);
  CallDescription line;
  line.name = node.name;
  line.operation = operationText(graph, call);
  line.backward = hasPlannedBackward(node.operation->name) ? "planned" : "autograd";
  line.shape = graph.node(call.output).shape;
  line.parameters = parametersOf(graph, call.node);
  if (node.operation->flops != nullptr) {
    const auto inputs = graph.inputShapes(node);
    line.flops = node.operation->flops(node.attributes, inputs, node.shape) * static_cast<double>(images);
  }
  return line;
}

}  // namespace

std::vector<std::string> operationsByAutograd(const Graph& graph) {
  std::vector<std::string> names;
  for (const PlannedNode& call : fuse(graph)) {
    const std::string name(graph.node(call.node).operation->name);
    if (!hasPlannedBackward(name) && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

PlanDescription describePlan(const Graph& graph, const ExecutorOptions& options, int64_t images) {
  const auto plan = fuse(graph);
  const Lifetimes lives(graph, plan);
  const auto layouts = blockedLayouts(graph, plan);
  const auto element = static_cast<int64_t>(c10::elementSize(options.compute));
  std::vector<std::string> makerOf(graph.nodes().size(), graph.node(graph.input()).name);
  const auto bytesOf = [&](NodeId value) { return graph.node(value).shape.count() * images * element; };
  PlanDescription description;
  int64_t held = bytesOf(graph.input());
  for (size_t i = 0; i < plan.size(); ++i) {
    const PlannedNode& call = plan[i];
    CallDescription line = described(graph, call, images);
    for (const NodeId input : call.inputs) line.inputs.push_back(makerOf[static_cast<size_t>(input)]);
    makerOf[static_cast<size_t>(call.output)] = line.name;
    if (line.operation == "conv") {
      line.algorithm = algorithmText(
          options.algorithms.empty() ? PassAlgorithms{} : options.algorithms.at(static_cast<size_t>(call.node)));
    }
    line.blocked = options.layout.blocked && layouts[i].output;
    line.outputBytes = bytesOf(call.output);
    line.kept = lives.kept(call.output);
    const bool indices = graph.node(call.node).operation->name == "max_pool";
    held += line.outputBytes + (indices ? line.outputBytes / element * indexBytes : 0);
    description.peakBytes = std::max(description.peakBytes, held);
    for (NodeId value = 0; value <= call.output; ++value) held -= lives.endsAfter(value, i) ? bytesOf(value) : 0;
    description.calls.push_back(std::move(line));
  }
  description.keptBytes = held;
  return description;
}

}  // namespace tandem
