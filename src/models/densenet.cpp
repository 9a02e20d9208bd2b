#include <array>

#include "base/catalog.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

struct Variant {
  std::string_view name;
  std::array<int, 4> layers;  // layers of each block
};

constexpr std::array variants{Variant{"densenet121", {6, 12, 24, 16}}, Variant{"densenet169", {6, 12, 32, 32}},
                              Variant{"densenet201", {6, 12, 48, 32}}};
constexpr int64_t growth = 32, bottleneck = 4 * growth;

/// Appends `growth` new channels to the input's.
NodeId denseLayer(Graph& graph, const std::string& name, NodeId from) {
  NodeId at = normRelu(graph, name + ".norm1", name + ".relu1", from);
  at = graph.add("conv", name + ".conv1", {at}, squareConv(bottleneck, 1, 1, 0));
  at = normRelu(graph, name + ".norm2", name + ".relu2", at);
  at = graph.add("conv", name + ".conv2", {at}, squareConv(growth, 3, 1, 1));
  return graph.add("concat", name + ".concat", {from, at});
}

NodeId transition(Graph& graph, const std::string& name, NodeId from) {
  const NodeId at = normRelu(graph, name + ".norm", name + ".relu", from);
  const int64_t half = graph.node(from).shape.channels / 2;
  const NodeId narrowed = graph.add("conv", name + ".conv", {at}, squareConv(half, 1, 1, 0));
  return graph.add("avg_pool", name + ".pool", {narrowed}, squarePool(2, 2));
}

}  // namespace

Graph buildDensenet(const ModelEntry& entry, const ModelOptions& options) {
  const Variant& variant = find(std::span<const Variant>(variants), entry.name, "DenseNet");
  Graph graph = startGraph(entry, options);
  NodeId at = convNorm(graph, {"features.conv0", "features.norm0"}, graph.input(), squareConv(64, 7, 2, 3));
  at = graph.add("max_pool", "features.pool0", {relu(graph, "features.relu0", at)}, squarePool(3, 2, 1));
  for (size_t block = 1; block <= variant.layers.size(); ++block) {
    for (int layer = 1; layer <= variant.layers.at(block - 1); ++layer) {
      at = denseLayer(graph, concat("features.denseblock", block, ".denselayer", layer), at);
    }
    if (block < variant.layers.size()) at = transition(graph, concat("features.transition", block), at);
  }
  at = normRelu(graph, "features.norm5", "relu", at);
  at = graph.add("flatten", "flatten", {graph.add("global_avg_pool", "avgpool", {at})});
  linear(graph, "classifier", at, options.classes);
  return graph;
}

}  // namespace tandem
