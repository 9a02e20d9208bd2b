#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/shape.h"
#include "graph/task_loss.h"

namespace tandem {

struct Operation;  // graph/operation.h

/// Zero padding of the four edges. TensorFlow's "SAME" needs unequal edges at stride 2. Negative padding crops.
struct Padding {
  int64_t top = 0, bottom = 0, left = 0, right = 0;
  static Padding all(int64_t n) { return {n, n, n, n}; }
  bool symmetric() const { return top == bottom && left == right; }
  bool operator==(const Padding&) const = default;
};

/// Attributes of every operation in one struct. The catalog row of an operation says which ones it reads.
struct Attributes {
  int64_t outputs = 0;  ///< output channels or features (of convolutions, linear layers and parts of channels)
  int64_t first = 0;    ///< channel_range: the first channel
  int64_t kernelH = 1, kernelW = 1;
  int64_t strideH = 1, strideW = 1;
  Padding padding{};
  int64_t dilationH = 1, dilationW = 1;  ///< dilated_conv: distance of the pixels that a window reads
  int64_t groups = 1;                    ///< convolutions, channel_shuffle
  bool bias = true;
  bool ceilMode = false;         ///< pooling: round the output size up
  bool countPadding = true;      ///< avg_pool: padding counts as zeros in the mean
  int64_t poolH = 0, poolW = 0;  ///< output size of adaptive_avg_pool
  int64_t heads = 1;             ///< attention
  double epsilon = 1e-5;         ///< batch_norm, layer_norm
  bool scale = true;             ///< batch_norm: has a trained scale
  double momentum = 0.1;         ///< batch_norm: weight of the new batch in the running statistics
  double probability = 0.5;      ///< dropout, stochastic_depth
  int64_t radius = 0;            ///< local_response_norm: channels on each side
  double alpha = 0, beta = 0;    ///< local_response_norm; alpha is the factor of rescale
  double gain = 0;         ///< conv, linear: initial weights have variance gain / fan-in; 0: the operation's own gain
  bool identity = false;   ///< conv: the first outputs begin as copies of the inputs
  bool whitening = false;  ///< conv: the weight is made from the training images, and is not trained

  bool operator==(const Attributes&) const = default;
};

using NodeId = int;

/// One operation applied to earlier values. `name` is the module path in the reference implementation, which is
/// torchvision for its models. So parameters have the names that published weight files use.
struct Node {
  std::string name;
  const Operation* operation = nullptr;  ///< row of the operation catalog; lives for the program's life
  std::vector<NodeId> inputs;
  Attributes attributes;
  ImageShape shape;  ///< shape of the output, per image
};

/// `layerScale` multiplies a residual branch. `embedding` is added or concatenated unchanged.
enum class ParameterRole { weight, bias, normScale, normShift, layerScale, embedding };

/// A trained parameter of a graph.
struct Parameter {
  std::string name;  ///< node name + ".weight" or ".bias", or by the operation's row
  NodeId node = -1;
  ParameterRole role = ParameterRole::weight;
  std::vector<int64_t> shape;  ///< conv: [out, in / groups, kH, kW]; linear: [out, in]; else by the row
  int64_t fanIn = 0;           ///< weight: inputs per output; bias: that of its weight; else 0

  int64_t count() const;
};

/// A value besides the output that the training loss reads too, times `lossWeight`. Evaluation ignores it.
struct Auxiliary {
  NodeId value = -1;
  double lossWeight = 0;
};

/// A network as data: nodes in topological order; node 0 is the input.
class Graph {
 public:
  /// Makes a graph with the input node alone, called "input". Throws UsageError unless all three extents are positive.
  explicit Graph(ImageShape input);

  NodeId input() const { return 0; }

  /// Appends a node and returns its id. Throws UsageError, which names the node, the values and the rule. This happens
  /// if the operation is unknown, the name is taken, or number or shapes of the inputs break the operation's rule. It
  /// also happens if all values or all parameters exceed 2^38 numbers, which no memory holds. REQUIRES: inputs are ids
  /// of earlier nodes.
  NodeId add(std::string_view operation, std::string name, std::vector<NodeId> inputs, Attributes attributes = {});

  /// The value that the loss reads: the last node added.
  NodeId output() const { return static_cast<NodeId>(nodes_.size()) - 1; }

  /// REQUIRES: `value` is not output() when the graph is complete.
  void addAuxiliary(NodeId value, double lossWeight) { auxiliaries_.push_back({value, lossWeight}); }
  std::span<const Auxiliary> auxiliaries() const { return auxiliaries_; }
  /// All values that the loss reads: output(), then the auxiliary ones.
  std::vector<NodeId> outputs() const;

  /// The loss of the outputs. Default: softmax cross-entropy.
  const TaskLoss& loss() const { return *loss_; }
  void setLoss(const TaskLoss& loss) { loss_ = &loss; }

  std::span<const Node> nodes() const { return nodes_; }
  const Node& node(NodeId id) const { return nodes_.at(static_cast<size_t>(id)); }
  std::vector<ImageShape> inputShapes(const Node& node) const;

  /// All trained parameters in node order (weight before bias).
  std::vector<Parameter> parameters() const;

 private:
  std::vector<Node> nodes_;
  std::vector<Auxiliary> auxiliaries_;
  double values_ = 0, weights_ = 0;               // exact far beyond the bound on them
  const TaskLoss* loss_ = &taskLosses().front();  // row of the catalog
};

/// The name of the first node in which two graphs differ otherwise than in the shapes of values; empty: in none. Graphs
/// without a difference have the same parameters, and compute the same of images of either size.
std::string differenceBesidesShapes(const Graph& a, const Graph& b);

/// By node: true if only auxiliary values need it. All false without auxiliaries.
std::vector<bool> auxiliaryOnly(const Graph& graph);

/// Number of trained parameters.
int64_t parameterCount(const Graph& graph);

/// Number of variables as Keras and TensorFlow 1 count them: trained parameters, two running statistics per batch-norm
/// channel and the step counter. The CIFAR resnet20 with 11 classes has 271,164.
int64_t variableCount(const Graph& graph);

/// FLOPs of one image's forward pass in training; a multiply-add is 2. Counts only convolutions, linear layers and the
/// products of attention, as published figures do.
double forwardFlops(const Graph& graph);

/// FLOPs of one image in a training step, over the same nodes: forward, the gradient of the parameters and that of the
/// input. The latter is not computed if nothing before the node is trained.
double trainingFlops(const Graph& graph);

/// Elements of all node outputs for one image, including the input. Training keeps them until backward.
int64_t activationCount(const Graph& graph);

}  // namespace tandem
