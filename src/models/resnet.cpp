#include <array>

#include "base/catalog.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

struct Variant {
  std::string_view name;
  std::array<int, 4> blocks;
  bool bottleneck;
  bool strideOnFirst;  // of a bottleneck's convolutions
  int64_t widening = 1;
  int64_t groups = 1;  // of the 3x3
};

constexpr std::array variants{
    Variant{"resnet18", {2, 2, 2, 2}, false, false},
    Variant{"resnet34", {3, 4, 6, 3}, false, false},
    Variant{"resnet50", {3, 4, 6, 3}, true, false},
    Variant{"resnet101", {3, 4, 23, 3}, true, false},
    Variant{"resnet152", {3, 8, 36, 3}, true, false},
    Variant{"resnet50_v1", {3, 4, 6, 3}, true, true},
    Variant{"resnext50_32x4d", {3, 4, 6, 3}, true, false, 2, 32},
    Variant{"wide_resnet50_2", {3, 4, 6, 3}, true, false, 2},
};

struct Block {
  std::string name;
  int64_t width, outputs, stride;
};

NodeId basicBranch(Graph& graph, NodeId from, const Block& block) {
  const std::string& name = block.name;
  NodeId at = convNorm(graph, name + ".conv1", name + ".bn1", from, squareConv(block.width, 3, block.stride, 1));
  at = relu(graph, name + ".relu1", at);
  return convNorm(graph, name + ".conv2", name + ".bn2", at, squareConv(block.outputs, 3, 1, 1));
}

NodeId bottleneckBranch(Graph& graph, NodeId from, const Block& block, const Variant& variant) {
  const std::string& name = block.name;
  const int64_t first = variant.strideOnFirst ? block.stride : 1, second = variant.strideOnFirst ? 1 : block.stride;
  Attributes middle = squareConv(block.width, 3, second, 1);
  middle.groups = variant.groups;
  NodeId at = convNorm(graph, name + ".conv1", name + ".bn1", from, squareConv(block.width, 1, first, 0));
  at = relu(graph, name + ".relu1", at);
  at = convNorm(graph, name + ".conv2", name + ".bn2", at, middle);
  at = relu(graph, name + ".relu2", at);
  return convNorm(graph, name + ".conv3", name + ".bn3", at, squareConv(block.outputs, 1, 1, 0));
}

NodeId shortcut(Graph& graph, NodeId from, const Block& block) {
  if (block.stride == 1 && graph.node(from).shape.channels == block.outputs) return from;
  const std::string name = block.name + ".downsample.";
  return convNorm(graph, name + "0", name + "1", from, squareConv(block.outputs, 1, block.stride, 0));
}

NodeId residualBlock(Graph& graph, NodeId from, const Block& block, const Variant& variant) {
  const NodeId branch =
      variant.bottleneck ? bottleneckBranch(graph, from, block, variant) : basicBranch(graph, from, block);
  const NodeId sum = graph.add("add", block.name + ".add", {branch, shortcut(graph, from, block)});
  return relu(graph, block.name + ".relu", sum);
}

NodeId stem(Graph& graph) {
  const NodeId norm = convNorm(graph, "conv1", "bn1", graph.input(), squareConv(64, 7, 2, 3));
  return graph.add("max_pool", "maxpool", {relu(graph, "relu", norm)}, squarePool(3, 2, 1));
}

}  // namespace

Graph buildResnet(const ModelEntry& entry, const ModelOptions& options) {
  const Variant& variant = find(std::span<const Variant>(variants), entry.name, "ResNet");
  Graph graph = startGraph(entry, options);
  NodeId at = stem(graph);
  for (int stage = 0; stage < 4; ++stage) {
    const int64_t width = int64_t{64} << stage;
    for (int index = 0; index < variant.blocks.at(stage); ++index) {
      const int64_t stride = stage > 0 && index == 0 ? 2 : 1;
      const Block block{concat("layer", stage + 1, ".", index), variant.widening * width,
                        variant.bottleneck ? 4 * width : width, stride};
      at = residualBlock(graph, at, block, variant);
    }
  }
  poolAndClassify(graph, at, options.classes);
  return graph;
}

}  // namespace tandem
