#include "base/text.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

NodeId layer(Graph& graph, int index, NodeId from, const Attributes& shape) {
  return convRelu(graph, concat("conv", index), concat("relu", index), from, shape);
}

NodeId pool(Graph& graph, int index, NodeId from) {
  return graph.add("max_pool", concat("mpool", index), {from}, squarePool(2, 2));
}

}  // namespace

Graph buildOverfeat(const ModelEntry& entry, const ModelOptions& options) {
  Graph graph = startGraph(entry, options);
  NodeId at = pool(graph, 0, layer(graph, 0, graph.input(), squareConv(96, 11, 4, 0)));
  at = pool(graph, 1, layer(graph, 1, at, squareConv(256, 5, 1, 0)));
  at = layer(graph, 2, at, squareConv(512, 3, 1, 1));
  at = layer(graph, 3, at, squareConv(1024, 3, 1, 1));
  at = pool(graph, 2, layer(graph, 4, at, squareConv(1024, 3, 1, 1)));
  at = relu(graph, "relu5", linear(graph, "affine0", graph.add("flatten", "flatten", {at}), 3072));
  at = relu(graph, "relu6", linear(graph, "affine1", dropout(graph, "dropout0", at, options), 4096));
  linear(graph, "affine2", dropout(graph, "dropout1", at, options), options.classes);
  return graph;
}

}  // namespace tandem
