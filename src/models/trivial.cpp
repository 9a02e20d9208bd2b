#include "models/families.h"
#include "models/layers.h"

namespace tandem {

Graph buildTrivial(const ModelEntry& entry, const ModelOptions& options) {
  Graph graph = startGraph(entry, options);
  NodeId at = graph.add("flatten", "flatten", {graph.input()});
  at = relu(graph, "relu0", linear(graph, "affine0", at, 1));
  at = relu(graph, "relu1", linear(graph, "affine1", at, 4096));
  linear(graph, "affine2", at, options.classes);
  return graph;
}

}  // namespace tandem
