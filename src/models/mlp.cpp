#include "models/families.h"
#include "models/layers.h"

namespace tandem {

Graph buildMlp(const ModelEntry& entry, const ModelOptions& options) {
  Graph graph = startGraph(entry, options);
  NodeId at = graph.add("flatten", "flatten", {graph.input()});
  at = graph.add("first_channels", "features", {at}, {.outputs = 8000});
  at = graph.add("tanh", "activation_1", {linear(graph, "dense_1", at, 4000)});
  at = relu(graph, "activation_2", linear(graph, "dense_2", at, 2000));
  at = relu(graph, "activation_3", linear(graph, "dense_3", at, 500));
  at = relu(graph, "activation_4", linear(graph, "dense_4", at, 300));
  linear(graph, "dense_5", at, options.classes);
  graph.setLoss(lossOfHead("sigmoid"));
  return graph;
}

}  // namespace tandem
