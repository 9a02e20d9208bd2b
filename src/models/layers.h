#pragma once

#include <string>

#include "graph/graph.h"
#include "models/model.h"

namespace tandem {

/// Attributes of a square convolution without bias and with equal padding on all edges.
Attributes squareConv(int64_t outputs, int64_t kernel, int64_t stride, int64_t padding);

/// Attributes of a depthwise convolution. The kernel is odd, and padding keeps the size at stride 1.
Attributes depthwiseConv(int64_t channels, int64_t kernel, int64_t stride);

/// Adds a bias to a convolution.
Attributes biased(Attributes shape);

/// Attributes of a square pooling window.
Attributes squarePool(int64_t kernel, int64_t stride, int64_t padding = 0);

/// Batch-norm with the defaults of Keras' layer. Keras' momentum of 0.99 is the weight of the old average.
Attributes kerasNorm(double epsilon, bool scale);

struct ConvNormNames {
  std::string conv, norm;
};

/// Appends convolution and batch-norm.
NodeId convNorm(Graph& graph, const ConvNormNames& names, NodeId from, const Attributes& shape,
                const Attributes& normalisation = {});

/// Appends batch-norm and ReLU.
NodeId normRelu(Graph& graph, const std::string& norm, const std::string& activation, NodeId from);

/// TensorFlow's SAME padding for a value of shape `in`: the output has size / stride rounded up; an odd pixel of
/// padding comes last. sameConv() and samePool() are squareConv() and squarePool() with it. REQUIRES of samePool() with
/// kernel 3 and stride 2: `in` is square.
Padding samePadding(const ImageShape& in, int64_t kernel, int64_t stride);
Attributes sameConv(const ImageShape& in, int64_t outputs, int64_t kernel, int64_t stride);
Attributes samePool(const ImageShape& in);

/// Appends convolution and batch-norm, NAME.0 and NAME.1, then the activation NAME.2 unless it is empty.
NodeId convNormActivation(Graph& graph, const std::string& name, NodeId from, const Attributes& shape,
                          std::string_view activation);

/// Appends the basic convolution of the Inception networks: NAME.conv, NAME.bn and NAME.relu.
NodeId basicConv(Graph& graph, const std::string& name, NodeId from, const Attributes& shape,
                 const Attributes& normalisation = {.epsilon = 0.001});

/// Appends a convolution with bias and a ReLU.
NodeId convRelu(Graph& graph, const std::string& conv, const std::string& relu, NodeId from, const Attributes& shape);

/// Appends squeeze-and-excitation with `squeezed` channels (Hu et al. 2017, arXiv:1709.01507): NAME.avgpool, fc1,
/// activation, fc2, scale_activation, and the product, NAME.
struct SqueezeExcitation {
  int64_t squeezed;
  std::string_view activation;
};
NodeId squeezeExcite(Graph& graph, const std::string& name, NodeId from, const SqueezeExcitation& shape);

/// Appends global average pooling, flattening and the linear classifier: "avgpool", "flatten", NAME.
NodeId poolAndClassify(Graph& graph, NodeId from, int64_t classes, const std::string& name = "fc");

NodeId relu(Graph& graph, const std::string& name, NodeId from);
NodeId linear(Graph& graph, const std::string& name, NodeId from, int64_t outputs);

/// `fallback` is the probability in the model's definition.
NodeId dropout(Graph& graph, const std::string& name, NodeId from, const ModelOptions& options, double fallback = 0.5);

/// Appends stochastic depth unless its probability is 0 or the caller turned dropout off.
NodeId stochasticDepth(Graph& graph, const std::string& name, NodeId from, const ModelOptions& options,
                       double probability);

/// The graph of a model before its first layer is added.
Graph startGraph(const ModelEntry& entry, const ModelOptions& options);

}  // namespace tandem
