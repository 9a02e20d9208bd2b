#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

NodeId poolAndDrop(Graph& graph, const std::string& suffix, NodeId from, const ModelOptions& options) {
  const NodeId pooled = graph.add("max_pool", "max_pooling2d" + suffix, {from}, squarePool(2, 2));
  return dropout(graph, "dropout" + suffix, pooled, options, 0.25);
}

}  // namespace

Graph buildKerasCnn(const ModelEntry& entry, const ModelOptions& options) {
  Graph graph = startGraph(entry, options);
  NodeId at = convRelu(graph, "conv2d", "activation", graph.input(), squareConv(32, 3, 1, 1));
  at = convRelu(graph, "conv2d_1", "activation_1", at, squareConv(32, 3, 1, 0));
  at = poolAndDrop(graph, "", at, options);
  at = convRelu(graph, "conv2d_2", "activation_2", at, squareConv(64, 3, 1, 1));
  at = convRelu(graph, "conv2d_3", "activation_3", at, squareConv(64, 3, 1, 0));
  at = graph.add("flatten", "flatten", {poolAndDrop(graph, "_1", at, options)});
  at = relu(graph, "activation_4", linear(graph, "dense", at, 512));
  linear(graph, "dense_1", dropout(graph, "dropout_2", at, options), options.classes);
  return graph;
}

}  // namespace tandem
