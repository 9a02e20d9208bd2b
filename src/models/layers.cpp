#include "models/layers.h"

namespace tandem {

Attributes squarePool(int64_t kernel, int64_t stride, int64_t padding) {
  Attributes attributes;
  attributes.kernelH = attributes.kernelW = kernel;
  attributes.strideH = attributes.strideW = stride;
  attributes.padding = Padding::all(padding);
  return attributes;
}

Attributes squareConv(int64_t outputs, int64_t kernel, int64_t stride, int64_t padding) {
  Attributes attributes = squarePool(kernel, stride, padding);
  attributes.outputs = outputs;
  attributes.bias = false;
  return attributes;
}

NodeId convNorm(Graph& graph, const std::string& conv, const std::string& norm, NodeId from, const Attributes& shape) {
  return graph.add("batch_norm", norm, {graph.add("conv", conv, {from}, shape)});
}

NodeId poolAndClassify(Graph& graph, NodeId from, int64_t classes) {
  const NodeId pooled = graph.add("global_avg_pool", "avgpool", {from});
  return linear(graph, "fc", graph.add("flatten", "flatten", {pooled}), classes);
}

NodeId relu(Graph& graph, const std::string& name, NodeId from) { return graph.add("relu", name, {from}); }

NodeId linear(Graph& graph, const std::string& name, NodeId from, int64_t outputs) {
  return graph.add("linear", name, {from}, {.outputs = outputs});
}

NodeId dropout(Graph& graph, const std::string& name, NodeId from, const ModelOptions& options, double fallback) {
  return graph.add("dropout", name, {from}, {.probability = options.dropout < 0 ? fallback : options.dropout});
}

Graph startGraph(const ModelEntry& entry, const ModelOptions& options) {
  return Graph({entry.input.channels, options.imageSize, options.imageSize});
}

}  // namespace tandem
