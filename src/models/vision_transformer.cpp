#include "base/text.h"
#include "models/families.h"
#include "models/layers.h"

namespace tandem {
namespace {

// Base: table 1 of the paper.
constexpr int64_t width = 768, hidden = 3072, heads = 12, patch = 16;
constexpr int layers = 12;

NodeId layerNorm(Graph& graph, const std::string& name, NodeId from) {
  return graph.add("layer_norm", name, {from}, {.epsilon = 1e-6});
}

NodeId encoderLayer(Graph& graph, const std::string& name, NodeId from, const ModelOptions& options) {
  NodeId at = layerNorm(graph, name + ".ln_1", from);
  at = graph.add("attention", name + ".self_attention", {at}, {.heads = heads});
  at = graph.add("channel_linear", name + ".self_attention.out_proj", {at}, {.outputs = width});
  at = dropout(graph, name + ".dropout", at, options, 0);
  const NodeId sum = graph.add("add", name + ".add1", {at, from});
  at = layerNorm(graph, name + ".ln_2", sum);
  at = graph.add("channel_linear", name + ".mlp.0", {at}, {.outputs = hidden});
  at = dropout(graph, name + ".mlp.2", graph.add("gelu", name + ".mlp.1", {at}), options, 0);
  at = graph.add("channel_linear", name + ".mlp.3", {at}, {.outputs = width});
  at = dropout(graph, name + ".mlp.4", at, options, 0);
  return graph.add("add", name + ".add2", {sum, at});
}

}  // namespace

Graph buildVisionTransformer(const ModelEntry& entry, const ModelOptions& options) {
  Graph graph = startGraph(entry, options);
  NodeId at = graph.add("conv", "conv_proj", {graph.input()}, biased(squareConv(width, patch, patch, 0)));
  at = graph.add("class_token", "class_token", {at});
  at = graph.add("position_embedding", "encoder.pos_embedding", {at});
  at = dropout(graph, "encoder.dropout", at, options, 0);
  for (int layer = 0; layer < layers; ++layer) {
    at = encoderLayer(graph, concat("encoder.layers.encoder_layer_", layer), at, options);
  }
  at = graph.add("first_token", "first_token", {layerNorm(graph, "encoder.ln", at)});
  linear(graph, "heads.head", at, options.classes);
  return graph;
}

}  // namespace tandem
