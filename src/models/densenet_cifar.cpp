#include <array>

#include "base/catalog.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

struct Variant {
  std::string_view name;
  int layersPerBlock;
  int64_t growth;
  /// True for the definition of tf_cnn_benchmarks: transitions have twice the growth, and every convolution has a bias.
  /// In the paper, transitions keep the number of channels.
  bool tensorflow;
};

constexpr std::array variants{
    Variant{"densenet40_k12", 12, 12, true},         Variant{"densenet100_k12", 32, 12, true},
    Variant{"densenet100_k24", 32, 24, true},        Variant{"densenet40_k12_paper", 12, 12, false},
    Variant{"densenet100_k12_paper", 32, 12, false}, Variant{"densenet100_k24_paper", 32, 24, false}};

NodeId conv(Graph& graph, const std::string& name, NodeId from, Attributes shape, const Variant& variant) {
  shape.bias = variant.tensorflow;
  return graph.add("conv", name, {from}, shape);
}

/// Appends `growth` new channels to the input's.
NodeId denseLayer(Graph& graph, const std::string& name, NodeId from, const Variant& variant) {
  NodeId at = normRelu(graph, name + ".norm", name + ".relu", from);
  at = conv(graph, name + ".conv", at, squareConv(variant.growth, 3, 1, 1), variant);
  return graph.add("concat", name + ".concat", {from, at});
}

NodeId transition(Graph& graph, const std::string& name, NodeId from, const Variant& variant) {
  const int64_t outputs = variant.tensorflow ? 2 * variant.growth : graph.node(from).shape.channels;
  NodeId at = normRelu(graph, name + ".norm", name + ".relu", from);
  at = conv(graph, name + ".conv", at, squareConv(outputs, 1, 1, 0), variant);
  return graph.add("avg_pool", name + ".pool", {at}, squarePool(2, 2));
}

}  // namespace

Graph buildCifarDensenet(const ModelEntry& entry, const ModelOptions& options) {
  const Variant& variant = find(std::span<const Variant>(variants), entry.name, "CIFAR DenseNet");
  Graph graph = startGraph(entry, options);
  NodeId at = conv(graph, "conv0", graph.input(), squareConv(16, 3, 1, 1), variant);
  for (int block = 1; block <= 3; ++block) {
    for (int layer = 1; layer <= variant.layersPerBlock; ++layer) {
      at = denseLayer(graph, concat("denseblock", block, ".denselayer", layer), at, variant);
    }
    if (block < 3) at = transition(graph, concat("transition", block), at, variant);
  }
  poolAndClassify(graph, normRelu(graph, "norm", "relu", at), options.classes);
  return graph;
}

}  // namespace tandem
