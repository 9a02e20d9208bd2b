#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

constexpr double gain = 1.0 / 3;  // of the variance that PyTorch's layers draw weights with

NodeId norm(Graph& graph, const std::string& name, NodeId from) {
  return graph.add("batch_norm", name, {from}, {.epsilon = 1e-12, .scale = false, .momentum = 0.4});
}

Attributes conv(int64_t outputs) {
  Attributes attributes = squareConv(outputs, 3, 1, 1);
  attributes.gain = gain, attributes.identity = true;
  return attributes;
}

NodeId group(Graph& graph, const std::string& name, NodeId from, int64_t outputs) {
  NodeId at = graph.add("conv", name + ".conv1", {from}, conv(outputs));
  at = norm(graph, name + ".norm1", graph.add("max_pool", name + ".pool", {at}, squarePool(2, 2)));
  at = graph.add("conv", name + ".conv2", {graph.add("gelu", name + ".activ1", {at})}, conv(outputs));
  return graph.add("gelu", name + ".activ2", {norm(graph, name + ".norm2", at)});
}

}  // namespace

Graph buildAirbench(const ModelEntry& entry, const ModelOptions& options) {
  constexpr int64_t window = 2;
  Graph graph = startGraph(entry, options);
  Attributes whitening = biased(squareConv(2 * entry.input.channels * window * window, window, 1, 0));
  whitening.whitening = true;
  NodeId at = graph.add("gelu", "1", {graph.add("conv", "0", {graph.input()}, whitening)});
  at = group(graph, "2", at, 64);
  at = group(graph, "3", at, 256);
  at = group(graph, "4", at, 256);
  at = graph.add("max_pool", "5", {at}, squarePool(graph.node(at).shape.height, 1));
  at = graph.add("linear", "7", {graph.add("flatten", "6", {at})},
                 {.outputs = options.classes, .bias = false, .gain = gain});
  graph.add("rescale", "8", {at}, {.alpha = 1.0 / 9});
  return graph;
}

}  // namespace tandem
