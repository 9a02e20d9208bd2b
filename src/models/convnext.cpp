#include <array>

#include "base/text.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

struct Stage {
  int64_t width;
  int blocks;
};

constexpr std::array tiny{Stage{96, 3}, Stage{192, 3}, Stage{384, 9}, Stage{768, 3}};
constexpr int blocksInAll = 18;
constexpr double lastDrop = 0.1;  // the probability of stochastic depth grows linearly to it

NodeId layerNorm(Graph& graph, const std::string& name, NodeId from) {
  return graph.add("layer_norm", name, {from}, {.epsilon = 1e-6});
}

NodeId patches(Graph& graph, const std::string& name, NodeId from, const Attributes& shape) {
  return graph.add("conv", name, {from}, biased(shape));
}

NodeId branch(Graph& graph, const std::string& name, NodeId from) {
  const int64_t width = graph.node(from).shape.channels;
  NodeId at = layerNorm(graph, name + ".block.2",
                        graph.add("conv", name + ".block.0", {from}, biased(depthwiseConv(width, 7, 1))));
  at = graph.add("channel_linear", name + ".block.3", {at}, {.outputs = 4 * width});
  at = graph.add("gelu", name + ".block.4", {at});
  at = graph.add("channel_linear", name + ".block.5", {at}, {.outputs = width});
  return graph.add("layer_scale", name + ".layer_scale", {at});
}

}  // namespace

Graph buildConvnext(const ModelEntry& entry, const ModelOptions& options) {
  Graph graph = startGraph(entry, options);
  NodeId at = patches(graph, "features.0.0", graph.input(), squareConv(tiny.front().width, 4, 4, 0));
  at = layerNorm(graph, "features.0.1", at);
  int before = 0;
  for (size_t stage = 0; stage < tiny.size(); ++stage) {
    if (stage > 0) {
      const std::string name = concat("features.", 2 * stage);
      at = layerNorm(graph, name + ".0", at);
      at = patches(graph, name + ".1", at, squareConv(tiny.at(stage).width, 2, 2, 0));
    }
    for (int block = 0; block < tiny.at(stage).blocks; ++block, ++before) {
      const std::string name = concat("features.", 2 * stage + 1, ".", block);
      const double drop = lastDrop * before / (blocksInAll - 1);
      const NodeId kept = stochasticDepth(graph, name + ".stochastic_depth", branch(graph, name, at), options, drop);
      at = graph.add("add", name + ".add", {kept, at});
    }
  }
  at = layerNorm(graph, "classifier.0", graph.add("global_avg_pool", "avgpool", {at}));
  linear(graph, "classifier.2", graph.add("flatten", "classifier.1", {at}), options.classes);
  return graph;
}

}  // namespace tandem
