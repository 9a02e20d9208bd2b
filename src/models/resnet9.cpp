#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

NodeId conv(Graph& graph, const std::string& name, NodeId from, int64_t outputs) {
  return relu(graph, name + "_relu",
              convNorm(graph, {name + "_conv", name + "_bn"}, from, squareConv(outputs, 3, 1, 1)));
}

NodeId halved(Graph& graph, const std::string& name, NodeId from, int64_t outputs) {
  return graph.add("max_pool", name + "_pool", {conv(graph, name, from, outputs)}, squarePool(2, 2));
}

NodeId residual(Graph& graph, const std::string& name, NodeId from) {
  const int64_t channels = graph.node(from).shape.channels;
  const NodeId first = conv(graph, name + "_residual_res1", from, channels);
  const NodeId second = conv(graph, name + "_residual_res2", first, channels);
  return graph.add("add", name + "_residual_add", {from, second});
}

}  // namespace

Graph buildResnet9(const ModelEntry& entry, const ModelOptions& options) {
  Graph graph = startGraph(entry, options);
  NodeId at = conv(graph, "prep", graph.input(), 64);
  at = residual(graph, "layer1", halved(graph, "layer1", at, 128));
  at = halved(graph, "layer2", at, 256);
  at = residual(graph, "layer3", halved(graph, "layer3", at, 512));
  at = graph.add("max_pool", "pool", {at}, squarePool(graph.node(at).shape.height, 1));
  at = graph.add("linear", "linear", {graph.add("flatten", "flatten", {at})},
                 {.outputs = options.classes, .bias = false});
  graph.add("rescale", "logits", {at}, {.alpha = 0.125});
  return graph;
}

}  // namespace tandem
