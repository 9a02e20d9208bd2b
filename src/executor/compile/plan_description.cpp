#include "executor/compile/plan_description.h"

#include <algorithm>

#include "base/catalog.h"
#include "base/text.h"
#include "executor/compile/fusion.h"
#include "executor/compile/layout_assignment.h"
#include "executor/compile/liveness.h"
#include "executor/planned_operation.h"
#include "executor/select/channel_padding.h"
#include "graph/operation.h"

namespace tandem {
namespace {

/// The bytes of activations in memory while forward proceeds.
class Held {
 public:
  Held(const Activations& activations, const Recomputation& recomputation)
      : a_(activations), stays_(recomputation.kept), bytes_(activations.bytes.front()) {
    for (size_t i = recomputation.segments.back().begin; i < a_.calls.size(); ++i) {
      for (const NodeId value : a_.calls[i].read) stays_[static_cast<size_t>(value)] = true;
    }
    lasting_ = recomputation.segments.back().begin;
  }

  bool stays(NodeId value) const { return stays_[static_cast<size_t>(value)]; }

  /// The bytes held while both the call's output and its inputs are.
  int64_t during(size_t call) {
    bytes_ += a_.bytes[static_cast<size_t>(a_.plan[call].output)] + (call < lasting_ ? 0 : a_.calls[call].ownBytes);
    const int64_t most = bytes_;
    for (size_t value = 0; value < stays_.size(); ++value) {
      if (!stays_[value] && a_.lastReader[value] == static_cast<int>(call)) bytes_ -= a_.bytes[value];
    }
    return most;
  }

 private:
  const Activations& a_;
  std::vector<bool> stays_;
  size_t lasting_ = 0;  // the first call whose forward keeps what backward reads
  int64_t bytes_;       // of one image
};

std::string operationText(const Graph& graph, const PlannedNode& call) {
  std::string text(graph.node(call.node).operation->name);
  if (call.zeroChannels > 0) {
    text += concat(" (", call.zeroChannels, call.zeroChannels == 1 ? " channel of zeros)" : " channels of zeros)");
  }
  if (call.activation == Activation::none) return text;
  return concat(text, call.hasResidual() ? " + add + " : " + ", operationOf(call.activation));
}

int64_t parametersOf(const Graph& graph, NodeId node) {
  int64_t count = 0;
  for (const Parameter& parameter : graph.parameters()) count += parameter.node == node ? parameter.count() : 0;
  return count;
}

/// The names for forward, the input's gradient and the parameters' gradient.
std::vector<std::string> algorithmNames(const ExecutorOptions& options, NodeId node) {
  if (!options.kernels.engines.empty()) {
    const PassPlans engines = options.kernels.enginesOf(node);
    std::vector<std::string> names(engines.names.begin(), engines.names.end());
    if (!engines.withStats.empty()) names.front() = concat(engines.withStats, " with sums");
    return names;
  }
  if (!canChooseKernels(options.kernels.layout, options.device, options.compute)) return {"ATen"};
  std::vector<std::string> names;
  for (const ConvolutionAlgorithm* algorithm : options.kernels.algorithmsOf(node)) {
    names.emplace_back((algorithm == nullptr ? convolutionAlgorithms().front() : *algorithm).name);
  }
  return names;
}

std::string algorithmText(const ExecutorOptions& options, NodeId node) {
  const std::vector<std::string> names = algorithmNames(options, node);
  const bool same = std::ranges::all_of(names, [&](const std::string& name) { return name == names.front(); });
  return same ? names.front() : join(names);
}

OpDescription described(const Graph& graph, const PlannedNode& call, int64_t images) {
  const Node& node = graph.node(call.node);
  OpDescription line;
  line.name = node.name;
  line.operation = operationText(graph, call);
  line.byAutograd = !hasPlannedBackward(node.operation->name);
  line.shape = graph.node(call.output).shape;
  line.parameters = parametersOf(graph, call.node);
  if (node.operation->flops != nullptr) {
    const auto inputs = graph.inputShapes(node);
    line.flops = node.operation->flops(node.attributes, inputs, node.shape) * static_cast<double>(images);
  }
  return line;
}

}  // namespace

std::vector<std::string> operationsByAutograd(const Graph& graph, at::Device device) {
  std::vector<std::string> names;
  for (const PlannedNode& call : fuse(graph, device)) {
    const std::string name(graph.node(call.node).operation->name);
    if (!hasPlannedBackward(name) && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

PlanDescription describePlan(const Graph& graph, const ExecutorOptions& options, int64_t images) {
  const auto plan = withPaddedImages(fuse(graph, options.device), graph, options.kernels.zeroChannels);
  const auto layouts = blockedLayouts(graph, plan);
  const Activations activations = activationsOf(graph, plan, options);
  const Recomputation chosen = recomputation(activations, options.recompute.cuts(activations));
  Held held(activations, chosen);
  std::vector<std::string> makerOf(graph.nodes().size(), graph.node(graph.input()).name);
  PlanDescription description;
  description.segments = chosen.segments.size();
  for (size_t i = 0, segment = 0; i < plan.size(); ++i) {
    const PlannedNode& call = plan[i];
    if (i == chosen.segments[segment].end) ++segment;
    OpDescription line = described(graph, call, images);
    for (const NodeId input : call.inputs) line.inputs.push_back(makerOf[static_cast<size_t>(input)]);
    makerOf[static_cast<size_t>(call.output)] = line.name;
    if (graph.node(call.node).operation->traits.convolution) line.algorithm = algorithmText(options, call.node);
    line.blocked = options.kernels.layout.blocked && layouts[i].output;
    line.outputBytes = activations.bytes[static_cast<size_t>(call.output)] * images;
    line.kept = held.stays(call.output);
    line.again = chosen.again[i];
    line.segment = segment;
    description.flopsAgain += line.again ? line.flops : 0;
    description.peakBytes = std::max(description.peakBytes, held.during(i) * images);
    description.calls.push_back(std::move(line));
  }
  description.keptBytes = keptBytes(activations, chosen) * images;
  description.keptWithoutBytes = keptBytes(activations, recomputation(activations, {})) * images;
  return description;
}

}  // namespace tandem
