#include <array>

#include "base/text.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

constexpr int64_t pooling = 0;
// Output channels of each convolution, with the pooling layers between: column D of the paper's table 1.
constexpr std::array<int64_t, 18> vgg16Layers{64,      64,  pooling, 128, 128,     pooling, 256, 256, 256,
                                              pooling, 512, 512,     512, pooling, 512,     512, 512, pooling};

std::string featureName(int index) { return concat("features.", index); }

NodeId features(Graph& graph) {
  NodeId at = graph.input();
  int index = 0;
  for (const int64_t outputs : vgg16Layers) {
    if (outputs == pooling) {
      at = graph.add("max_pool", featureName(index++), {at}, squarePool(2, 2));
      continue;
    }
    Attributes conv = squareConv(outputs, 3, 1, 1);
    conv.bias = true;
    at = graph.add("conv", featureName(index++), {at}, conv);
    at = relu(graph, featureName(index++), at);
  }
  return at;
}

}  // namespace

Graph buildVgg(const ModelEntry& entry, const ModelOptions& options) {
  Graph graph = startGraph(entry, options);
  NodeId at = graph.add("adaptive_avg_pool", "avgpool", {features(graph)}, {.poolH = 7, .poolW = 7});
  at = graph.add("flatten", "flatten", {at});
  at = relu(graph, "classifier.1", linear(graph, "classifier.0", at, 4096));
  at = dropout(graph, "classifier.2", at, options);
  at = relu(graph, "classifier.4", linear(graph, "classifier.3", at, 4096));
  at = dropout(graph, "classifier.5", at, options);
  linear(graph, "classifier.6", at, options.classes);
  return graph;
}

}  // namespace tandem
