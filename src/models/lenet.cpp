#include "models/families.h"
#include "models/layers.h"

namespace tandem {

Graph buildLenet(const ModelEntry& entry, const ModelOptions& options) {
  Graph graph = startGraph(entry, options);
  NodeId at = convRelu(graph, "conv0", "relu0", graph.input(), squareConv(32, 5, 1, 2));
  at = graph.add("max_pool", "mpool0", {at}, squarePool(2, 2));
  at = convRelu(graph, "conv1", "relu1", at, squareConv(64, 5, 1, 2));
  at = graph.add("max_pool", "mpool1", {at}, squarePool(2, 2));
  at = graph.add("flatten", "flatten", {at});
  at = relu(graph, "relu2", linear(graph, "affine0", at, 512));
  linear(graph, "affine1", at, options.classes);
  return graph;
}

}  // namespace tandem
