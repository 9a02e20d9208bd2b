#include <array>

#include "base/text.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

struct Stage {
  int64_t expansion, kernel, stride, outputs;
  int blocks;
};

// B0: table 1 of the paper.
constexpr std::array stages{Stage{1, 3, 1, 16, 1}, Stage{6, 3, 2, 24, 2},  Stage{6, 5, 2, 40, 2},
                            Stage{6, 3, 2, 80, 3}, Stage{6, 5, 1, 112, 3}, Stage{6, 5, 2, 192, 4},
                            Stage{6, 3, 1, 320, 1}};
constexpr int blocksInAll = 16;
constexpr double lastDrop = 0.2;  // the probability of stochastic depth grows linearly towards it

NodeId mbConv(Graph& graph, const std::string& name, NodeId from, const Stage& shape) {
  const int64_t inputs = graph.node(from).shape.channels, hidden = inputs * shape.expansion;
  int part = 0;
  const auto next = [&] { return concat(name, ".block.", part++); };
  NodeId at = from;
  if (shape.expansion != 1) at = convNormActivation(graph, next(), at, squareConv(hidden, 1, 1, 0), "silu");
  at = convNormActivation(graph, next(), at, depthwiseConv(hidden, shape.kernel, shape.stride), "silu");
  at = squeezeExcite(graph, next(), at, {inputs / 4, "silu"});
  return convNormActivation(graph, next(), at, squareConv(shape.outputs, 1, 1, 0), "");
}

}  // namespace

Graph buildEfficientnet(const ModelEntry& entry, const ModelOptions& options) {
  Graph graph = startGraph(entry, options);
  NodeId at = convNormActivation(graph, "features.0", graph.input(), squareConv(32, 3, 2, 1), "silu");
  int before = 0, stageIndex = 1;
  for (Stage stage : stages) {
    for (int block = 0; block < stage.blocks; ++block, ++before, stage.stride = 1) {
      const std::string name = concat("features.", stageIndex, ".", block);
      const NodeId from = at;
      at = mbConv(graph, name, from, stage);
      if (stage.stride != 1 || graph.node(from).shape != graph.node(at).shape) continue;
      at = stochasticDepth(graph, name + ".stochastic_depth", at, options, lastDrop * before / blocksInAll);
      at = graph.add("add", name + ".add", {at, from});
    }
    ++stageIndex;
  }
  at = convNormActivation(graph, concat("features.", stageIndex), at, squareConv(1280, 1, 1, 0), "silu");
  at = graph.add("flatten", "flatten", {graph.add("global_avg_pool", "avgpool", {at})});
  linear(graph, "classifier.1", dropout(graph, "classifier.0", at, options, 0.2), options.classes);
  return graph;
}

}  // namespace tandem
