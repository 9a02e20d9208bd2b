#pragma once

#include <string>

#include "graph/graph.h"
#include "models/model.h"

namespace tandem {

/// Attributes of a square convolution without bias, padded alike on all edges.
Attributes squareConv(int64_t outputs, int64_t kernel, int64_t stride, int64_t padding);

/// Attributes of a square pooling window.
Attributes squarePool(int64_t kernel, int64_t stride, int64_t padding = 0);

/// Appends convolution and batch-norm.
NodeId convNorm(Graph& graph, const std::string& conv, const std::string& norm, NodeId from, const Attributes& shape);

/// Appends global average pooling, flatten and the classifying linear layer: "avgpool", "flatten", "fc".
NodeId poolAndClassify(Graph& graph, NodeId from, int64_t classes);

NodeId relu(Graph& graph, const std::string& name, NodeId from);
NodeId linear(Graph& graph, const std::string& name, NodeId from, int64_t outputs);

/// `fallback` is the probability that the model's definition gives.
NodeId dropout(Graph& graph, const std::string& name, NodeId from, const ModelOptions& options, double fallback = 0.5);

/// The graph of a model before its first layer.
Graph startGraph(const ModelEntry& entry, const ModelOptions& options);

}  // namespace tandem
