#include <array>

#include "base/catalog.h"
#include "base/error.h"
#include "base/text.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

constexpr Attributes norm{.epsilon = 1e-4, .momentum = 0.003};
constexpr int64_t imageSize = 300, coordinates = 4;

struct Block {
  std::string name;
  int64_t outputs, stride;
  bool projects;
};

NodeId residualBlock(Graph& graph, NodeId from, const Block& block) {
  const std::string& name = block.name;
  NodeId at = convNorm(graph, {name + ".conv1", name + ".bn1"}, from,
                       sameConv(graph.node(from).shape, block.outputs, 3, block.stride), norm);
  at = relu(graph, name + ".relu1", at);
  at = convNorm(graph, {name + ".conv2", name + ".bn2"}, at, squareConv(block.outputs, 3, 1, 1), norm);
  const NodeId shortcut = block.projects ? convNorm(graph, {name + ".downsample.0", name + ".downsample.1"}, from,
                                                    squareConv(block.outputs, 1, block.stride, 0), norm)
                                         : from;
  return relu(graph, name + ".relu", graph.add("add", name + ".add", {at, shortcut}));
}

/// ResNet-34 without its last stage and without the stride of its third one: [256, 38, 38].
NodeId backbone(Graph& graph) {
  NodeId at = convNorm(graph, {"backbone.conv1", "backbone.bn1"}, graph.input(), squareConv(64, 7, 2, 3), norm);
  at = relu(graph, "backbone.relu", at);
  at = graph.add("max_pool", "backbone.maxpool", {at}, samePool(graph.node(at).shape));
  constexpr std::array<int, 3> blocks{3, 4, 6};
  for (int stage = 0; stage < 3; ++stage) {
    for (int index = 0; index < blocks.at(stage); ++index) {
      const bool first = stage > 0 && index == 0;
      const Block block{concat("backbone.layer", stage + 1, ".", index), int64_t{64} << stage,
                        first && stage == 1 ? 2 : 1, first};
      at = residualBlock(graph, at, block);
    }
  }
  return at;
}

struct Extra {
  int64_t squeezed, outputs;
  bool halves;
};

NodeId extraLevel(Graph& graph, int index, NodeId from, const Extra& extra) {
  const std::string name = concat("additional_blocks.", index, ".");
  const NodeId at = convRelu(graph, name + "0", name + "1", from, squareConv(extra.squeezed, 1, 1, 0));
  const Attributes shape =
      extra.halves ? sameConv(graph.node(at).shape, extra.outputs, 3, 2) : squareConv(extra.outputs, 3, 1, 0);
  return convRelu(graph, name + "2", name + "3", at, shape);
}

/// The values of one level's boxes, [4 + classes, boxes, 1].
NodeId boxesOf(Graph& graph, int level, NodeId from, int64_t boxesPerPixel, int64_t classes) {
  std::vector<NodeId> parts;
  for (const auto& [name, values] : {std::pair{"loc.", coordinates}, std::pair{"conf.", classes}}) {
    const NodeId conv =
        graph.add("conv", concat(name, level), {from}, biased(squareConv(boxesPerPixel * values, 3, 1, 1)));
    parts.push_back(graph.add("box_values", concat(name, level, ".boxes"), {conv}, {.outputs = values}));
  }
  return graph.add("concat", concat("boxes.", level), parts);
}

}  // namespace

Graph buildSsd300(const ModelEntry& entry, const ModelOptions& options) {
  if (options.imageSize != imageSize) {
    throw UsageError(concat("image size ", options.imageSize, ": its default boxes are those of images of ", imageSize,
                            " pixels; leave the size away"));
  }
  Graph graph = startGraph(entry, options);
  constexpr std::array<Extra, 5> extras{
      {{256, 512, true}, {256, 512, true}, {128, 256, true}, {128, 256, false}, {128, 256, false}}};
  constexpr std::array<int64_t, 6> boxesPerPixel{4, 6, 6, 6, 4, 4};
  std::vector<NodeId> levels{backbone(graph)}, boxes;
  for (int i = 0; i < 5; ++i) levels.push_back(extraLevel(graph, i, levels.back(), extras.at(i)));
  for (int i = 0; i < 6; ++i) boxes.push_back(boxesOf(graph, i, levels.at(i), boxesPerPixel.at(i), options.classes));
  graph.add("join_tokens", "boxes", boxes);
  graph.setLoss(find(taskLosses(), "multibox", "loss"));
  return graph;
}

}  // namespace tandem
