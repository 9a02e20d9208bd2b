#include <array>

#include "base/catalog.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

constexpr int64_t pooling = 0;

struct Variant {
  std::string_view name;
  int64_t stemChannels, stemKernel;
  std::array<int64_t, 10> squeezed;  // squeeze channels of each fire module, with the pooling layers between
};

constexpr std::array variants{
    Variant{"squeezenet1_0", 96, 7, {16, 16, 32, pooling, 32, 48, 48, 64, pooling, 64}},
    Variant{"squeezenet1_1", 64, 3, {16, 16, pooling, 32, 32, pooling, 48, 48, 64, 64}},
};

NodeId fire(Graph& graph, const std::string& name, NodeId from, int64_t squeezed) {
  const std::string narrow = name + ".squeeze", one = name + ".expand1x1", three = name + ".expand3x3";
  const NodeId at = convRelu(graph, narrow, narrow + "_activation", from, squareConv(squeezed, 1, 1, 0));
  const NodeId left = convRelu(graph, one, one + "_activation", at, squareConv(4 * squeezed, 1, 1, 0));
  const NodeId right = convRelu(graph, three, three + "_activation", at, squareConv(4 * squeezed, 3, 1, 1));
  return graph.add("concat", name + ".concat", {left, right});
}

}  // namespace

Graph buildSqueezenet(const ModelEntry& entry, const ModelOptions& options) {
  const Variant& variant = find(std::span<const Variant>(variants), entry.name, "SqueezeNet");
  Attributes pool = squarePool(3, 2);
  pool.ceilMode = true;
  Graph graph = startGraph(entry, options);
  NodeId at = convRelu(graph, "features.0", "features.1", graph.input(),
                       squareConv(variant.stemChannels, variant.stemKernel, 2, 0));
  at = graph.add("max_pool", "features.2", {at}, pool);
  for (size_t i = 0; i < variant.squeezed.size(); ++i) {
    const std::string name = concat("features.", i + 3);
    const int64_t squeezed = variant.squeezed.at(i);
    at = squeezed == pooling ? graph.add("max_pool", name, {at}, pool) : fire(graph, name, at, squeezed);
  }
  at = dropout(graph, "classifier.0", at, options);
  at = convRelu(graph, "classifier.1", "classifier.2", at, squareConv(options.classes, 1, 1, 0));
  graph.add("global_avg_pool", "classifier.3", {at});
  return graph;
}

}  // namespace tandem
