#include <array>

#include "base/catalog.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

struct Variant {
  std::string_view name;
  std::array<int, 4> depths;
  std::array<int64_t, 4> widths;
  int64_t groupWidth;
};

// The widths and depths that the paper's parameters give. The parameters w0, wa, wm and depth are 80, 42.63, 2.66 and
// 21 for the first variant. For the second they are 96, 31.41, 2.24 and 22.
constexpr std::array variants{Variant{"regnet_y_3_2gf", {2, 5, 13, 1}, {72, 216, 576, 1512}, 24},
                              Variant{"regnet_y_4gf", {2, 6, 12, 2}, {128, 192, 512, 1088}, 64}};

struct Block {
  std::string name;
  int64_t width, groupWidth, stride;
};

NodeId shortcut(Graph& graph, NodeId from, const Block& block) {
  if (block.stride == 1 && graph.node(from).shape.channels == block.width) return from;
  return convNormActivation(graph, block.name + ".proj", from, squareConv(block.width, 1, block.stride, 0), "");
}

NodeId branch(Graph& graph, NodeId from, const Block& block) {
  const int64_t inputs = graph.node(from).shape.channels;
  const std::string name = block.name + ".f.";
  Attributes middle = squareConv(block.width, 3, block.stride, 1);
  middle.groups = block.width / block.groupWidth;
  NodeId at = convNormActivation(graph, name + "a", from, squareConv(block.width, 1, 1, 0), "relu");
  at = convNormActivation(graph, name + "b", at, middle, "relu");
  at = squeezeExcite(graph, name + "se", at, {inputs / 4, "relu"});
  return convNormActivation(graph, name + "c", at, squareConv(block.width, 1, 1, 0), "");
}

}  // namespace

Graph buildRegnet(const ModelEntry& entry, const ModelOptions& options) {
  const Variant& variant = find(std::span<const Variant>(variants), entry.name, "RegNet");
  Graph graph = startGraph(entry, options);
  NodeId at = convNormActivation(graph, "stem", graph.input(), squareConv(32, 3, 2, 1), "relu");
  for (size_t stage = 0; stage < variant.depths.size(); ++stage) {
    for (int index = 0; index < variant.depths.at(stage); ++index) {
      const Block block{concat("trunk_output.block", stage + 1, ".block", stage + 1, "-", index),
                        variant.widths.at(stage), variant.groupWidth, index == 0 ? 2 : 1};
      const NodeId skip = shortcut(graph, at, block);
      const NodeId sum = graph.add("add", block.name + ".add", {skip, branch(graph, at, block)});
      at = relu(graph, block.name + ".activation", sum);
    }
  }
  poolAndClassify(graph, at, options.classes);
  return graph;
}

}  // namespace tandem
