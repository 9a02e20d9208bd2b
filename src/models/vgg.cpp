#include <array>

#include "base/catalog.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

struct Variant {
  std::string_view name;
  std::array<int, 5> convolutions;  // number before each pooling layer: a column of the paper's table 1
};

constexpr std::array variants{Variant{"vgg11", {1, 1, 2, 2, 2}}, Variant{"vgg13", {2, 2, 2, 2, 2}},
                              Variant{"vgg16", {2, 2, 3, 3, 3}}, Variant{"vgg19", {2, 2, 4, 4, 4}}};
constexpr std::array<int64_t, 5> widths{64, 128, 256, 512, 512};

std::string featureName(int index) { return concat("features.", index); }

NodeId features(Graph& graph, const Variant& variant) {
  NodeId at = graph.input();
  int index = 0;
  for (size_t stage = 0; stage < widths.size(); ++stage) {
    for (int i = 0; i < variant.convolutions.at(stage); ++i, index += 2) {
      at = convRelu(graph, featureName(index), featureName(index + 1), at, squareConv(widths.at(stage), 3, 1, 1));
    }
    at = graph.add("max_pool", featureName(index++), {at}, squarePool(2, 2));
  }
  return at;
}

}  // namespace

Graph buildVgg(const ModelEntry& entry, const ModelOptions& options) {
  const Variant& variant = find(std::span<const Variant>(variants), entry.name, "VGG");
  Graph graph = startGraph(entry, options);
  NodeId at = graph.add("adaptive_avg_pool", "avgpool", {features(graph, variant)}, {.poolH = 7, .poolW = 7});
  at = graph.add("flatten", "flatten", {at});
  at = relu(graph, "classifier.1", linear(graph, "classifier.0", at, 4096));
  at = dropout(graph, "classifier.2", at, options);
  at = relu(graph, "classifier.4", linear(graph, "classifier.3", at, 4096));
  at = dropout(graph, "classifier.5", at, options);
  linear(graph, "classifier.6", at, options.classes);
  return graph;
}

}  // namespace tandem
