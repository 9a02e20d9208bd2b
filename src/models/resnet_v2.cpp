#include <array>

#include "base/catalog.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

struct Variant {
  std::string_view name;
  std::array<int, 4> blocks;
  bool timm;  // timm's definition; else that of tf_cnn_benchmarks
};

constexpr std::array variants{
    Variant{"resnet50_v2", {3, 4, 6, 3}, false},
    Variant{"resnet101_v2", {3, 4, 23, 3}, false},
    Variant{"resnet152_v2", {3, 8, 36, 3}, false},
    Variant{"resnetv2_50", {3, 4, 6, 3}, true},
};

struct Block {
  std::string name;
  int64_t outputs, stride;
  bool strideOnFirst, projects;
};

NodeId active(Graph& graph, const std::string& name, NodeId from) { return normRelu(graph, name, name + ".act", from); }

NodeId residualBlock(Graph& graph, NodeId from, const Block& block) {
  const std::string& name = block.name;
  const int64_t width = block.outputs / 4;
  const int64_t first = block.strideOnFirst ? block.stride : 1, second = block.strideOnFirst ? 1 : block.stride;
  const NodeId before = active(graph, name + ".norm1", from);
  const NodeId shortcut = block.projects ? graph.add("conv", name + ".downsample.conv", {before},
                                                     squareConv(block.outputs, 1, block.stride, 0))
                                         : from;
  NodeId at = graph.add("conv", name + ".conv1", {before}, squareConv(width, 1, first, 0));
  at = active(graph, name + ".norm2", at);
  at = graph.add("conv", name + ".conv2", {at}, squareConv(width, 3, second, 1));
  at = active(graph, name + ".norm3", at);
  at = graph.add("conv", name + ".conv3", {at}, squareConv(block.outputs, 1, 1, 0));
  return graph.add("add", name + ".add", {at, shortcut});
}

NodeId stem(Graph& graph, bool timm) {
  NodeId at = graph.add("conv", "stem.conv", {graph.input()}, squareConv(64, 7, 2, 3));
  if (timm) return graph.add("max_pool", "stem.pool", {at}, squarePool(3, 2, 1));
  at = active(graph, "stem.norm", at);
  return graph.add("max_pool", "stem.pool", {at}, samePool(graph.node(at).shape));
}

}  // namespace

Graph buildResnetV2(const ModelEntry& entry, const ModelOptions& options) {
  const Variant& variant = find(std::span<const Variant>(variants), entry.name, "ResNet v2");
  Graph graph = startGraph(entry, options);
  NodeId at = stem(graph, variant.timm);
  for (int stage = 0; stage < 4; ++stage) {
    for (int index = 0; index < variant.blocks.at(stage); ++index) {
      const int64_t stride = stage > 0 && index == 0 ? 2 : 1;
      const Block block{concat("stages.", stage, ".blocks.", index), int64_t{256} << stage, stride, !variant.timm,
                        index == 0};
      at = residualBlock(graph, at, block);
    }
  }
  at = active(graph, "norm", at);
  if (!variant.timm) {
    poolAndClassify(graph, at, options.classes, "head.fc");
    return graph;
  }
  at = graph.add("global_avg_pool", "head.global_pool", {at});
  at = graph.add("conv", "head.fc", {at}, biased(squareConv(options.classes, 1, 1, 0)));
  graph.add("flatten", "head.flatten", {at});
  return graph;
}

}  // namespace tandem
