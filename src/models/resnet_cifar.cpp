#include <array>

#include "base/catalog.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

struct Variant {
  std::string_view name;
  int blocksPerStage;
  bool preActivation = false;
};

constexpr std::array variants{Variant{"resnet20", 3},          Variant{"resnet32", 5},
                              Variant{"resnet44", 7},          Variant{"resnet56", 9},
                              Variant{"resnet110", 18},        Variant{"resnet20_v2", 3, true},
                              Variant{"resnet32_v2", 5, true}, Variant{"resnet44_v2", 7, true},
                              Variant{"resnet56_v2", 9, true}, Variant{"resnet110_v2", 18, true}};

struct Block {
  std::string name;
  int64_t outputs, stride;
};

NodeId shortcut(Graph& graph, NodeId from, const Block& block) {
  if (graph.node(from).shape.channels == block.outputs) return from;
  const std::string name = block.name + ".shortcut.";
  const NodeId small =
      graph.add("subsample", name + "subsample", {from}, {.strideH = block.stride, .strideW = block.stride});
  return graph.add("pad_channels", name + "pad", {small}, {.outputs = block.outputs});
}

NodeId preActivationBlock(Graph& graph, NodeId from, const Block& block) {
  const std::string& name = block.name;
  NodeId at = normRelu(graph, name + ".bn1", name + ".relu1", from);
  at = convNorm(graph, {name + ".conv1", name + ".bn2"}, at,
                sameConv(graph.node(from).shape, block.outputs, 3, block.stride));
  at = relu(graph, name + ".relu2", at);
  at = graph.add("conv", name + ".conv2", {at}, sameConv(graph.node(at).shape, block.outputs, 3, 1));
  return graph.add("add", name + ".add", {at, shortcut(graph, from, block)});
}

NodeId residualBlock(Graph& graph, NodeId from, const Block& block) {
  const std::string& name = block.name;
  NodeId at = convNorm(graph, {name + ".conv1", name + ".bn1"}, from,
                       sameConv(graph.node(from).shape, block.outputs, 3, block.stride));
  at = relu(graph, name + ".relu1", at);
  at = convNorm(graph, {name + ".conv2", name + ".bn2"}, at, sameConv(graph.node(at).shape, block.outputs, 3, 1));
  const NodeId sum = graph.add("add", name + ".add", {at, shortcut(graph, from, block)});
  return relu(graph, name + ".relu2", sum);
}

}  // namespace

Graph buildCifarResnet(const ModelEntry& entry, const ModelOptions& options) {
  const Variant& variant = find(std::span<const Variant>(variants), entry.name, "CIFAR ResNet");
  Graph graph = startGraph(entry, options);
  NodeId at = convNorm(graph, {"conv1", "bn1"}, graph.input(), sameConv(graph.node(graph.input()).shape, 16, 3, 1));
  if (variant.preActivation) at = relu(graph, "relu", at);
  for (int stage = 0; stage < 3; ++stage) {
    for (int index = 0; index < variant.blocksPerStage; ++index) {
      const int64_t stride = stage > 0 && index == 0 ? 2 : 1;
      const Block block{concat("layer", stage + 1, ".", index), int64_t{16} << stage, stride};
      at = variant.preActivation ? preActivationBlock(graph, at, block) : residualBlock(graph, at, block);
    }
  }
  if (variant.preActivation) at = normRelu(graph, "bn2", "relu2", at);
  poolAndClassify(graph, at, options.classes);
  return graph;
}

}  // namespace tandem
