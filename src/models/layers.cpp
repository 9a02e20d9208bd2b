#include "models/layers.h"

#include <algorithm>

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

Padding samePadding(const ImageShape& in, int64_t kernel, int64_t stride) {
  const auto total = [=](int64_t size) {
    return std::max<int64_t>(((size + stride - 1) / stride - 1) * stride + kernel - size, 0);
  };
  const int64_t rows = total(in.height), columns = total(in.width);
  return {rows / 2, rows - rows / 2, columns / 2, columns - columns / 2};
}

Attributes sameConv(const ImageShape& in, int64_t outputs, int64_t kernel, int64_t stride) {
  Attributes attributes = squareConv(outputs, kernel, stride, 0);
  attributes.padding = samePadding(in, kernel, stride);
  return attributes;
}

Attributes samePool(const ImageShape& in) {
  Attributes attributes = squarePool(3, 2);
  const Padding padding = samePadding(in, 3, 2);
  // Rounding up makes the window reach one pixel over the edge, as padding would. Padding never wins a maximum.
  attributes.ceilMode = true;
  if (padding.symmetric()) attributes.padding = padding, attributes.ceilMode = false;
  return attributes;
}

Attributes depthwiseConv(int64_t channels, int64_t kernel, int64_t stride) {
  Attributes attributes = squareConv(channels, kernel, stride, kernel / 2);
  attributes.groups = channels;
  return attributes;
}

Attributes biased(Attributes shape) {
  shape.bias = true;
  return shape;
}

Attributes kerasNorm(double epsilon, bool scale) { return {.epsilon = epsilon, .scale = scale, .momentum = 0.01}; }

NodeId convNorm(Graph& graph, const ConvNormNames& names, NodeId from, const Attributes& shape,
                const Attributes& normalisation) {
  return graph.add("batch_norm", names.norm, {graph.add("conv", names.conv, {from}, shape)}, normalisation);
}

NodeId normRelu(Graph& graph, const std::string& norm, const std::string& activation, NodeId from) {
  return relu(graph, activation, graph.add("batch_norm", norm, {from}));
}

NodeId convNormActivation(Graph& graph, const std::string& name, NodeId from, const Attributes& shape,
                          std::string_view activation) {
  const NodeId norm = convNorm(graph, {name + ".0", name + ".1"}, from, shape);
  return activation.empty() ? norm : graph.add(activation, name + ".2", {norm});
}

NodeId basicConv(Graph& graph, const std::string& name, NodeId from, const Attributes& shape,
                 const Attributes& normalisation) {
  return relu(graph, name + ".relu", convNorm(graph, {name + ".conv", name + ".bn"}, from, shape, normalisation));
}

NodeId convRelu(Graph& graph, const std::string& conv, const std::string& relu, NodeId from, const Attributes& shape) {
  return graph.add("relu", relu, {graph.add("conv", conv, {from}, biased(shape))});
}

NodeId squeezeExcite(Graph& graph, const std::string& name, NodeId from, const SqueezeExcitation& shape) {
  const int64_t channels = graph.node(from).shape.channels;
  NodeId at = graph.add("global_avg_pool", name + ".avgpool", {from});
  at = graph.add("conv", name + ".fc1", {at}, biased(squareConv(shape.squeezed, 1, 1, 0)));
  at = graph.add(shape.activation, name + ".activation", {at});
  at = graph.add("conv", name + ".fc2", {at}, biased(squareConv(channels, 1, 1, 0)));
  at = graph.add("sigmoid", name + ".scale_activation", {at});
  return graph.add("multiply", name, {from, at});
}

NodeId poolAndClassify(Graph& graph, NodeId from, int64_t classes, const std::string& name) {
  const NodeId pooled = graph.add("global_avg_pool", "avgpool", {from});
  return linear(graph, name, graph.add("flatten", "flatten", {pooled}), classes);
}

NodeId relu(Graph& graph, const std::string& name, NodeId from) { return graph.add("relu", name, {from}); }

NodeId linear(Graph& graph, const std::string& name, NodeId from, int64_t outputs) {
  return graph.add("linear", name, {from}, {.outputs = outputs});
}

NodeId dropout(Graph& graph, const std::string& name, NodeId from, const ModelOptions& options, double fallback) {
  return graph.add("dropout", name, {from}, {.probability = options.dropout < 0 ? fallback : options.dropout});
}

NodeId stochasticDepth(Graph& graph, const std::string& name, NodeId from, const ModelOptions& options,
                       double probability) {
  if (probability == 0 || options.dropout == 0) return from;
  return graph.add("stochastic_depth", name, {from}, {.probability = probability});
}

Graph startGraph(const ModelEntry& entry, const ModelOptions& options) {
  return Graph({entry.input.channels, options.imageSize, options.imageSize});
}

}  // namespace tandem
