#include "base/text.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

struct Layer {
  int index;
  int64_t outputs, kernel, stride, padding;
};

NodeId convRelu(Graph& graph, NodeId from, const Layer& layer) {
  return convRelu(graph, concat("features.", layer.index), concat("features.", layer.index + 1), from,
                  squareConv(layer.outputs, layer.kernel, layer.stride, layer.padding));
}

NodeId maxPool(Graph& graph, NodeId from, int index) {
  return graph.add("max_pool", concat("features.", index), {from}, squarePool(3, 2));
}

}  // namespace

Graph buildAlexnet(const ModelEntry& entry, const ModelOptions& options) {
  Graph graph = startGraph(entry, options);
  NodeId at = maxPool(graph, convRelu(graph, graph.input(), {0, 64, 11, 4, 2}), 2);
  at = maxPool(graph, convRelu(graph, at, {3, 192, 5, 1, 2}), 5);
  at = convRelu(graph, at, {6, 384, 3, 1, 1});
  at = convRelu(graph, at, {8, 256, 3, 1, 1});
  at = maxPool(graph, convRelu(graph, at, {10, 256, 3, 1, 1}), 12);
  at = graph.add("adaptive_avg_pool", "avgpool", {at}, {.poolH = 6, .poolW = 6});
  at = dropout(graph, "classifier.0", graph.add("flatten", "flatten", {at}), options);
  at = relu(graph, "classifier.2", linear(graph, "classifier.1", at, 4096));
  at = dropout(graph, "classifier.3", at, options);
  at = relu(graph, "classifier.5", linear(graph, "classifier.4", at, 4096));
  linear(graph, "classifier.6", at, options.classes);
  return graph;
}

}  // namespace tandem
