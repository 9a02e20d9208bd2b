#include <array>

#include "base/text.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

/// Output channels of a module's convolutions, from table 1 of the paper.
struct Module {
  const char* name;
  int64_t one, threeReduce, three, fiveReduce, five, pooled;
};

constexpr std::array third{Module{"inception3a", 64, 96, 128, 16, 32, 32},
                           Module{"inception3b", 128, 128, 192, 32, 96, 64}};
constexpr std::array fourth{
    Module{"inception4a", 192, 96, 208, 16, 48, 64}, Module{"inception4b", 160, 112, 224, 24, 64, 64},
    Module{"inception4c", 128, 128, 256, 24, 64, 64}, Module{"inception4d", 112, 144, 288, 32, 64, 64},
    Module{"inception4e", 256, 160, 320, 32, 128, 128}};
constexpr std::array fifth{Module{"inception5a", 256, 160, 320, 32, 128, 128},
                           Module{"inception5b", 384, 192, 384, 48, 128, 128}};
constexpr double lossWeight = 0.3;  // weight of the auxiliary heads' losses

NodeId maxPool(Graph& graph, const std::string& name, NodeId from, Attributes window) {
  window.ceilMode = true;
  return graph.add("max_pool", name, {from}, window);
}

NodeId inception(Graph& graph, NodeId from, const Module& shape) {
  const std::string name = shape.name;
  const NodeId one = basicConv(graph, name + ".branch1", from, squareConv(shape.one, 1, 1, 0));
  NodeId three = basicConv(graph, name + ".branch2.0", from, squareConv(shape.threeReduce, 1, 1, 0));
  three = basicConv(graph, name + ".branch2.1", three, squareConv(shape.three, 3, 1, 1));
  NodeId five = basicConv(graph, name + ".branch3.0", from, squareConv(shape.fiveReduce, 1, 1, 0));
  five = basicConv(graph, name + ".branch3.1", five, squareConv(shape.five, 3, 1, 1));
  NodeId pooled = maxPool(graph, name + ".branch4.0", from, squarePool(3, 1, 1));
  pooled = basicConv(graph, name + ".branch4.1", pooled, squareConv(shape.pooled, 1, 1, 0));
  return graph.add("concat", name + ".concat", {one, three, five, pooled});
}

void auxiliaryHead(Graph& graph, const std::string& name, NodeId from, const ModelOptions& options) {
  NodeId at = graph.add("adaptive_avg_pool", name + ".avgpool", {from}, {.poolH = 4, .poolW = 4});
  at = basicConv(graph, name + ".conv", at, squareConv(128, 1, 1, 0));
  at = graph.add("flatten", name + ".flatten", {at});
  at = relu(graph, name + ".relu", linear(graph, name + ".fc1", at, 1024));
  at = dropout(graph, name + ".dropout", at, options, 0.7);
  graph.addAuxiliary(linear(graph, name + ".fc2", at, options.classes), lossWeight);
}

}  // namespace

Graph buildGooglenet(const ModelEntry& entry, const ModelOptions& options) {
  Graph graph = startGraph(entry, options);
  NodeId at = basicConv(graph, "conv1", graph.input(), squareConv(64, 7, 2, 3));
  at = basicConv(graph, "conv2", maxPool(graph, "maxpool1", at, squarePool(3, 2)), squareConv(64, 1, 1, 0));
  at = basicConv(graph, "conv3", at, squareConv(192, 3, 1, 1));
  at = maxPool(graph, "maxpool2", at, squarePool(3, 2));
  for (const Module& module : third) at = inception(graph, at, module);
  at = maxPool(graph, "maxpool3", at, squarePool(3, 2));
  for (const Module& module : fourth) {
    at = inception(graph, at, module);
    if (&module == &fourth[0]) auxiliaryHead(graph, "aux1", at, options);
    if (&module == &fourth[3]) auxiliaryHead(graph, "aux2", at, options);
  }
  at = maxPool(graph, "maxpool4", at, squarePool(2, 2));
  for (const Module& module : fifth) at = inception(graph, at, module);
  at = graph.add("flatten", "flatten", {graph.add("global_avg_pool", "avgpool", {at})});
  linear(graph, "fc", dropout(graph, "dropout", at, options, 0.2), options.classes);
  return graph;
}

}  // namespace tandem
