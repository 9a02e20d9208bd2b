#include "graph/state.h"

#include "base/error.h"
#include "base/text.h"
#include "graph/operation.h"

namespace tandem {
namespace {

/// By node: whether `last` depends on it.
std::vector<bool> neededBy(const Graph& graph, NodeId last) {
  std::vector<bool> needed(graph.nodes().size(), false);
  needed[static_cast<size_t>(last)] = true;
  for (size_t id = needed.size(); id-- > 0;) {
    if (!needed[id]) continue;
    for (const NodeId input : graph.nodes()[id].inputs) needed[static_cast<size_t>(input)] = true;
  }
  return needed;
}

}  // namespace

std::vector<StateTensor> stateTensors(const Graph& graph) {
  using Kind = StateTensor::Kind;
  std::vector<StateTensor> all;
  for (Parameter& parameter : graph.parameters()) {
    all.push_back({std::move(parameter.name), parameter.node, Kind::parameter, parameter.role, parameter.shape});
  }
  for (size_t id = 0; id < graph.nodes().size(); ++id) {
    const Node& node = graph.nodes()[id];
    if (!node.operation->traits.batchNorm) continue;
    const auto at = static_cast<NodeId>(id);
    all.push_back({node.name + ".running_mean", at, Kind::runningMean, {}, {node.shape.channels}});
    all.push_back({node.name + ".running_var", at, Kind::runningVariance, {}, {node.shape.channels}});
  }
  return all;
}

int64_t stateBytes(const Graph& graph) {
  int64_t values = parameterCount(graph);
  for (const Node& node : graph.nodes()) {
    if (node.operation->traits.batchNorm) values += 2 * node.shape.channels;  // running mean and variance
  }
  return values * static_cast<int64_t>(sizeof(float));
}

std::optional<NodeId> findHead(const Graph& graph, NodeId value) {
  for (NodeId at = value; at != graph.input(); at = graph.node(at).inputs.front()) {
    if (graph.node(at).operation->parameters != nullptr) return at;
  }
  return std::nullopt;
}

NodeId headBefore(const Graph& graph, NodeId value) {
  if (const auto head = findHead(graph, value)) return *head;
  throw UsageError(concat("node '", graph.node(value).name, "': no layer before it has parameters"));
}

std::vector<NodeId> headNodes(const Graph& graph) {
  std::vector<NodeId> heads;
  for (const NodeId output : graph.outputs()) heads.push_back(headBefore(graph, output));
  return heads;
}

Graph featureGraph(const Graph& graph) {
  const NodeId last = graph.node(headBefore(graph, graph.output())).inputs.front();
  const std::vector<bool> needed = neededBy(graph, last);
  Graph features(graph.node(graph.input()).shape);
  std::vector<NodeId> copyOf(graph.nodes().size(), features.input());
  for (size_t id = 1; id < graph.nodes().size(); ++id) {
    if (!needed[id]) continue;
    const Node& node = graph.nodes()[id];
    std::vector<NodeId> inputs;
    for (const NodeId input : node.inputs) inputs.push_back(copyOf[static_cast<size_t>(input)]);
    copyOf[id] = features.add(node.operation->name, node.name, std::move(inputs), node.attributes);
  }
  NodeId at = copyOf[static_cast<size_t>(last)];
  const ImageShape shape = graph.node(last).shape;
  if (shape.count() == shape.channels) return features;
  at = features.add("global_avg_pool", "features_avgpool", {at});
  features.add("flatten", "features_flatten", {at});
  return features;
}

}  // namespace tandem
