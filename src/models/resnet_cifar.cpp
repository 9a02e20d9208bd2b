#include <algorithm>
#include <array>

#include "base/catalog.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

struct Variant {
  std::string_view name;
  int blocksPerStage;
};

constexpr std::array variants{Variant{"resnet20", 3}, Variant{"resnet32", 5}, Variant{"resnet44", 7},
                              Variant{"resnet56", 9}, Variant{"resnet110", 18}};

struct Block {
  std::string name;
  int64_t outputs, stride;
};

int64_t samePadding(int64_t size, int64_t kernel, int64_t stride) {
  return std::max<int64_t>(((size + stride - 1) / stride - 1) * stride + kernel - size, 0);
}

Attributes sameConv(const ImageShape& in, int64_t outputs, int64_t stride) {
  const int64_t rows = samePadding(in.height, 3, stride), columns = samePadding(in.width, 3, stride);
  Attributes attributes = squareConv(outputs, 3, stride, 0);
  attributes.padding = {rows / 2, rows - rows / 2, columns / 2, columns - columns / 2};
  return attributes;
}

NodeId shortcut(Graph& graph, NodeId from, const Block& block) {
  if (graph.node(from).shape.channels == block.outputs) return from;
  const std::string name = block.name + ".shortcut.";
  const NodeId small =
      graph.add("subsample", name + "subsample", {from}, {.strideH = block.stride, .strideW = block.stride});
  return graph.add("pad_channels", name + "pad", {small}, {.outputs = block.outputs});
}

NodeId residualBlock(Graph& graph, NodeId from, const Block& block) {
  const std::string& name = block.name;
  NodeId at = convNorm(graph, name + ".conv1", name + ".bn1", from,
                       sameConv(graph.node(from).shape, block.outputs, block.stride));
  at = relu(graph, name + ".relu1", at);
  at = convNorm(graph, name + ".conv2", name + ".bn2", at, sameConv(graph.node(at).shape, block.outputs, 1));
  const NodeId sum = graph.add("add", name + ".add", {at, shortcut(graph, from, block)});
  return relu(graph, name + ".relu2", sum);
}

}  // namespace

Graph buildCifarResnet(const ModelEntry& entry, const ModelOptions& options) {
  const Variant& variant = find(std::span<const Variant>(variants), entry.name, "CIFAR ResNet");
  Graph graph = startGraph(entry, options);
  NodeId at = convNorm(graph, "conv1", "bn1", graph.input(), sameConv(graph.node(graph.input()).shape, 16, 1));
  for (int stage = 0; stage < 3; ++stage) {
    for (int index = 0; index < variant.blocksPerStage; ++index) {
      const int64_t stride = stage > 0 && index == 0 ? 2 : 1;
      at = residualBlock(graph, at, {concat("layer", stage + 1, ".", index), int64_t{16} << stage, stride});
    }
  }
  poolAndClassify(graph, at, options.classes);
  return graph;
}

}  // namespace tandem
