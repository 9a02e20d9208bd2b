#include <array>

#include "base/text.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

struct Stage {
  int64_t expansion, outputs;
  int blocks;
  int64_t stride;
};

// Table 2 of the paper.
constexpr std::array stages{Stage{1, 16, 1, 1}, Stage{6, 24, 2, 2},  Stage{6, 32, 3, 2}, Stage{6, 64, 4, 2},
                            Stage{6, 96, 3, 1}, Stage{6, 160, 3, 2}, Stage{6, 320, 1, 1}};

NodeId invertedResidual(Graph& graph, const std::string& name, NodeId from, const Stage& shape) {
  const int64_t inputs = graph.node(from).shape.channels, hidden = inputs * shape.expansion;
  int part = 0;
  const auto next = [&] { return concat(name, ".conv.", part++); };
  NodeId at = from;
  if (shape.expansion != 1) at = convNormActivation(graph, next(), at, squareConv(hidden, 1, 1, 0), "relu6");
  at = convNormActivation(graph, next(), at, depthwiseConv(hidden, 3, shape.stride), "relu6");
  const std::string projection = next();
  at = convNorm(graph, {projection, next()}, at, squareConv(shape.outputs, 1, 1, 0));
  const bool isResidual = shape.stride == 1 && inputs == shape.outputs;
  return isResidual ? graph.add("add", name + ".add", {at, from}) : at;
}

}  // namespace

Graph buildMobilenetV2(const ModelEntry& entry, const ModelOptions& options) {
  Graph graph = startGraph(entry, options);
  NodeId at = convNormActivation(graph, "features.0", graph.input(), squareConv(32, 3, 2, 1), "relu6");
  int index = 1;
  for (Stage stage : stages) {
    for (int block = 0; block < stage.blocks; ++block, stage.stride = 1) {
      at = invertedResidual(graph, concat("features.", index++), at, stage);
    }
  }
  at = convNormActivation(graph, concat("features.", index), at, squareConv(1280, 1, 1, 0), "relu6");
  at = graph.add("flatten", "flatten", {graph.add("global_avg_pool", "avgpool", {at})});
  linear(graph, "classifier.1", dropout(graph, "classifier.0", at, options, 0.2), options.classes);
  return graph;
}

}  // namespace tandem
