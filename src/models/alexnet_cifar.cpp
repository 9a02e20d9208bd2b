#include "base/text.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

NodeId conv(Graph& graph, int index, NodeId from) {
  return convRelu(graph, concat("conv", index), concat("relu", index), from, squareConv(64, 5, 1, 2));
}

NodeId pool(Graph& graph, int index, NodeId from) {
  return graph.add("max_pool", concat("mpool", index), {from}, samePool(graph.node(from).shape));
}

NodeId responseNorm(Graph& graph, int index, NodeId from) {
  return graph.add("local_response_norm", concat("lrn", index), {from},
                   {.radius = 4, .alpha = 0.001 / 9, .beta = 0.75});
}

}  // namespace

Graph buildCifarAlexnet(const ModelEntry& entry, const ModelOptions& options) {
  Graph graph = startGraph(entry, options);
  NodeId at = responseNorm(graph, 0, pool(graph, 0, conv(graph, 0, graph.input())));
  at = pool(graph, 1, responseNorm(graph, 1, conv(graph, 1, at)));
  at = relu(graph, "relu2", linear(graph, "affine0", graph.add("flatten", "flatten", {at}), 384));
  at = relu(graph, "relu3", linear(graph, "affine1", at, 192));
  linear(graph, "affine2", at, options.classes);
  return graph;
}

}  // namespace tandem
