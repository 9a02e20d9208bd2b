#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

struct Stage {
  std::string first, second, pool;
  int64_t outputs;
};

NodeId stage(Graph& graph, NodeId from, const Stage& stage, const ModelOptions& options) {
  const Attributes shape = squareConv(stage.outputs, 3, 1, 1);
  NodeId at = convRelu(graph, "conv" + stage.first, "relu" + stage.first, from, shape);
  at = graph.add("conv", "conv" + stage.second, {at}, biased(shape));
  at = graph.add("max_pool", "pool" + stage.pool, {at}, squarePool(2, 2));
  return dropout(graph, "dropout" + stage.pool, relu(graph, "relu" + stage.second, at), options, 0.25);
}

}  // namespace

Graph buildFrameworksCnn(const ModelEntry& entry, const ModelOptions& options) {
  Graph graph = startGraph(entry, options);
  NodeId at = stage(graph, graph.input(), {"1", "2", "1", 50}, options);
  at = stage(graph, at, {"3", "4", "2", 100}, options);
  at = relu(graph, "relu5", linear(graph, "fc1", graph.add("flatten", "flatten", {at}), 512));
  linear(graph, "fc2", dropout(graph, "dropout3", at, options), options.classes);
  return graph;
}

}  // namespace tandem
