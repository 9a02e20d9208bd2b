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
  bool strideOnFirst;  // stride on a bottleneck's first convolution
  int64_t widening = 1;
  int64_t groups = 1;  // groups of the 3x3
  bool keras = false;  // Keras' definition: convolutions with bias, its batch-norm
  bool cifar = false;  // for small images: first convolution 3x3, no pooling
};

constexpr std::array variants{
    Variant{"resnet18", {2, 2, 2, 2}, false, false},
    Variant{"resnet34", {3, 4, 6, 3}, false, false},
    Variant{"resnet50", {3, 4, 6, 3}, true, false},
    Variant{"resnet101", {3, 4, 23, 3}, true, false},
    Variant{"resnet152", {3, 8, 36, 3}, true, false},
    Variant{"resnet50_v1", {3, 4, 6, 3}, true, true},
    Variant{"resnet101_v1", {3, 4, 23, 3}, true, true},
    Variant{"resnet152_v1", {3, 8, 36, 3}, true, true},
    Variant{"resnext50_32x4d", {3, 4, 6, 3}, true, false, 2, 32},
    Variant{"wide_resnet50_2", {3, 4, 6, 3}, true, false, 2},
    Variant{"keras_resnet50", {3, 4, 6, 3}, true, true, 1, 1, /*keras=*/true},
    Variant{"resnet18_cifar", {2, 2, 2, 2}, false, false, 1, 1, false, /*cifar=*/true},
};

struct Block {
  std::string name;
  int64_t width, outputs, stride;
};

/// The differences between the members.
struct Net {
  Graph graph;
  const Variant& variant;

  NodeId normalised(const std::string& conv, const std::string& norm, NodeId from, Attributes shape) {
    shape.bias = variant.keras;
    return convNorm(graph, {conv, norm}, from, shape, variant.keras ? kerasNorm(1.001e-5, true) : Attributes{});
  }
};

NodeId basicBranch(Net& net, NodeId from, const Block& block) {
  const std::string& name = block.name;
  NodeId at = net.normalised(name + ".conv1", name + ".bn1", from, squareConv(block.width, 3, block.stride, 1));
  at = relu(net.graph, name + ".relu1", at);
  return net.normalised(name + ".conv2", name + ".bn2", at, squareConv(block.outputs, 3, 1, 1));
}

NodeId bottleneckBranch(Net& net, NodeId from, const Block& block) {
  const std::string& name = block.name;
  const bool onFirst = net.variant.strideOnFirst;
  Attributes middle = squareConv(block.width, 3, onFirst ? 1 : block.stride, 1);
  middle.groups = net.variant.groups;
  NodeId at =
      net.normalised(name + ".conv1", name + ".bn1", from, squareConv(block.width, 1, onFirst ? block.stride : 1, 0));
  at = relu(net.graph, name + ".relu1", at);
  at = net.normalised(name + ".conv2", name + ".bn2", at, middle);
  at = relu(net.graph, name + ".relu2", at);
  return net.normalised(name + ".conv3", name + ".bn3", at, squareConv(block.outputs, 1, 1, 0));
}

NodeId shortcut(Net& net, NodeId from, const Block& block) {
  if (block.stride == 1 && net.graph.node(from).shape.channels == block.outputs) return from;
  const std::string name = block.name + ".downsample.";
  return net.normalised(name + "0", name + "1", from, squareConv(block.outputs, 1, block.stride, 0));
}

NodeId residualBlock(Net& net, NodeId from, const Block& block) {
  const NodeId branch = net.variant.bottleneck ? bottleneckBranch(net, from, block) : basicBranch(net, from, block);
  const NodeId sum = net.graph.add("add", block.name + ".add", {branch, shortcut(net, from, block)});
  return relu(net.graph, block.name + ".relu", sum);
}

NodeId stem(Net& net) {
  const Attributes shape = net.variant.cifar ? squareConv(64, 3, 1, 1) : squareConv(64, 7, 2, 3);
  const NodeId at = relu(net.graph, "relu", net.normalised("conv1", "bn1", net.graph.input(), shape));
  return net.variant.cifar ? at : net.graph.add("max_pool", "maxpool", {at}, squarePool(3, 2, 1));
}

}  // namespace

Graph buildResnet(const ModelEntry& entry, const ModelOptions& options) {
  const Variant& variant = find(std::span<const Variant>(variants), entry.name, "ResNet");
  Net net{startGraph(entry, options), variant};
  NodeId at = stem(net);
  for (int stage = 0; stage < 4; ++stage) {
    const int64_t width = int64_t{64} << stage;
    for (int index = 0; index < variant.blocks.at(stage); ++index) {
      const int64_t stride = stage > 0 && index == 0 ? 2 : 1;
      const Block block{concat("layer", stage + 1, ".", index), variant.widening * width,
                        variant.bottleneck ? 4 * width : width, stride};
      at = residualBlock(net, at, block);
    }
  }
  poolAndClassify(net.graph, at, options.classes);
  return std::move(net.graph);
}

}  // namespace tandem
