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

/// Zero padding of the four edges. Unequal edges are what TensorFlow's "SAME" needs at stride 2; negative ones crop.
struct Padding {
  int64_t top = 0, bottom = 0, left = 0, right = 0;
  static Padding all(int64_t n) { return {n, n, n, n}; }
  bool symmetric() const { return top == bottom && left == right; }
  bool operator==(const Padding&) const = default;
};

/// Attributes of every operation in one struct; an operation's catalog row says which ones it reads.
struct Attributes {
  int64_t outputs = 0;  ///< output channels or features (conv, linear, channel_linear, pad_channels, first_channels)
  int64_t kernelH = 1, kernelW = 1;
  int64_t strideH = 1, strideW = 1;
  Padding padding{};
  int64_t groups = 1;
  bool bias = true;
  bool ceilMode = false;         ///< pooling: round the output size up
  bool countPadding = true;      ///< avg_pool: padding counts as zeros in the mean
  int64_t poolH = 0, poolW = 0;  ///< output size of adaptive_avg_pool
  int64_t heads = 1;             ///< attention
  double epsilon = 1e-5;         ///< batch_norm, layer_norm
  bool scale = true;             ///< batch_norm: with a trained scale
  double momentum = 0.1;         ///< batch_norm: weight of the new batch in the running statistics
  double probability = 0.5;      ///< dropout, stochastic_depth
  int64_t radius = 0;            ///< local_response_norm: channels on each side
  double alpha = 0, beta = 0;    ///< local_response_norm; alpha is the factor of rescale
};

using NodeId = int;

/// One operation applied to earlier values. `name` is the dotted path of the module in the reference implementation
/// (torchvision's for its models), so that parameters get the names people's weight files have.
struct Node {
  std::string name;
  const Operation* operation = nullptr;  ///< row of the operation catalog; lives for the program's life
  std::vector<NodeId> inputs;
  Attributes attributes;
  ImageShape shape;  ///< of the output, per image
};

/// `layerScale` multiplies a residual branch, `embedding` is added or joined to the values as it is.
enum class ParameterRole { weight, bias, normScale, normShift, layerScale, embedding };

/// A trained parameter of a graph.
struct Parameter {
  std::string name;  ///< node name + ".weight" or ".bias", or as the operation's row says
  NodeId node = -1;
  ParameterRole role = ParameterRole::weight;
  std::vector<int64_t> shape;  ///< conv: [out, in / groups, kH, kW]; linear: [out, in]; else as the row says
  int64_t fanIn = 0;           ///< inputs per output of a weight; of its own weight for a bias; else 0

  int64_t count() const;
};

/// A value besides the output that the loss of training reads too, times `lossWeight`; evaluation does without it.
struct Auxiliary {
  NodeId value = -1;
  double lossWeight = 0;
};

/// A network as data: nodes in topological order, node 0 is the input.
class Graph {
 public:
  /// A graph of the input node alone, called "input". Throws UsageError unless all three extents are positive.
  explicit Graph(ImageShape input);

  NodeId input() const { return 0; }

  /// Appends a node and returns its id. Throws UsageError when the operation is unknown, the name is taken, or the
  /// number or the shapes of the inputs break the operation's rule, or when all values or all parameters come to more
  /// than 2^38 numbers, which no memory holds: the text names the node, the values and the rule.
  /// REQUIRES: inputs are ids of earlier nodes.
  NodeId add(std::string_view operation, std::string name, std::vector<NodeId> inputs, Attributes attributes = {});

  /// The value that the loss reads; by default the last node added.
  NodeId output() const { return static_cast<NodeId>(nodes_.size()) - 1; }

  /// REQUIRES: in the end another node than output().
  void addAuxiliary(NodeId value, double lossWeight) { auxiliaries_.push_back({value, lossWeight}); }
  std::span<const Auxiliary> auxiliaries() const { return auxiliaries_; }
  /// Every value that the loss reads: output(), then the auxiliary ones.
  std::vector<NodeId> outputs() const;

  /// What the outputs are trained for; softmax cross-entropy unless set.
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
  double values_ = 0, weights_ = 0;  // numbers in all nodes' outputs and parameters, exact to far beyond the bound
  const TaskLoss* loss_ = &taskLosses().front();  // row of the catalog
};

/// Per node: whether only auxiliary values need it. Without auxiliaries none.
std::vector<bool> auxiliaryOnly(const Graph& graph);

/// Number of trained parameters.
int64_t parameterCount(const Graph& graph);

/// Every variable the way Keras and TensorFlow 1 count them: trained parameters, two running statistics per batch-norm
/// channel and the step counter. The CIFAR resnet20 with 11 classes has 271,164.
int64_t variableCount(const Graph& graph);

/// Floating-point operations of one image's forward pass in training; a multiply-add is 2. Counts convolutions, linear
/// layers and the products of attention only, as published figures do.
double forwardFlops(const Graph& graph);

/// Floating-point operations of one image's step of training, of the same nodes: forward, the gradient of the
/// parameters and that of the input, which is left out where nothing before it is trained.
double trainingFlops(const Graph& graph);

/// Elements of all node outputs for one image, the input's included: what training keeps alive until backward.
int64_t activationCount(const Graph& graph);

}  // namespace tandem
