#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <vector>

#include "executor/compile/fusion.h"
#include "kernels/cudnn/batch_norm.h"
#include "kernels/cudnn/conv.h"

namespace tandem {

struct ExecutorOptions;  // executor/executor.h

/// The parameters of a call, their gradients, and the rest that it is bound to once.
struct PlannedBinding {
  const PlannedNode* plan = nullptr;
  const Node* node = nullptr;               ///< `plan->node` of the graph
  at::Tensor weight, bias;                  ///< views of the flat buffers, undefined where there is none
  at::Tensor weightGradient, biasGradient;  ///< views of the flat gradients: backward writes them
  at::Tensor runningMean, runningVar;       ///< batch_norm only
  std::vector<bool> wantsGradient;          ///< per input
  bool mayOverwrite = false;                ///< the first input is read by nobody else and needed by no backward
  at::Generator* generator = nullptr;
  at::MemoryFormat format = at::MemoryFormat::ChannelsLast;  ///< of plain activations
  bool blockedOutput = false;                                ///< of a convolution (kernels/conv/nchwc.h)
  PassAlgorithms algorithms{};                               ///< of a convolution
  PassPlans engines{};                                       ///< of a convolution on a GPU; of no images: ATen's
  NormPlans norms{};                                         ///< of a batch-norm on a GPU
  ConvPlansOf plansOf = cudnnConvPlans;                      ///< of a convolution: where engines come from
  /// Where a convolution leaves what it summed of its output in training, for the batch-norm behind it
  /// (PlannedNode::afterConvolution), which takes it away. Null: nobody asks.
  std::shared_ptr<ChannelStats> sums = {};
};

struct PassMode {
  bool training = true;   ///< batch statistics, dropout
  bool gradients = true;  ///< backward will follow: keep what it reads
  bool again = false;     ///< the last forward is repeated: same numbers drawn, running statistics left as they are
};

/// One call of the plan, forward and backward, without autograd.
class PlannedOperation {
 public:
  virtual ~PlannedOperation() = default;

  virtual at::Tensor forward(std::span<const at::Tensor> inputs, PassMode mode) = 0;

  /// Keeps what backward reads, as forward() does with gradients. `inputs` and `output` as in the forward() of this
  /// step; what keptForBackward() does not name may be undefined. REQUIRES: hasPlannedBackward().
  virtual void keep(std::span<const at::Tensor> inputs, const at::Tensor& output) = 0;

  /// The gradient of each input, undefined where it is not wanted; the parameters' are written into their slices.
  /// `outputGradients`: one from each reader of the output, to be added. Memory that nobody else holds may be reused.
  /// REQUIRES: forward() or keep() just before that kept what is read here; it is given up.
  virtual std::vector<at::Tensor> backward(std::vector<at::Tensor> outputGradients) = 0;
};

/// The operation, or autograd of its ATen call where there is no planned one.
std::unique_ptr<PlannedOperation> makePlannedOperation(const PlannedBinding& binding);

/// True for an operation with a backward of its own; the others run by autograd of one ATen call.
bool hasPlannedBackward(std::string_view operation);

/// True when its backward writes the weight's gradient at once to where the optimizer reads it.
bool writesGradientInPlace(std::string_view operation);

/// Which values of a call its backward reads.
struct KeptForBackward {
  bool input = false;  ///< the first one
  bool output = false;
};
KeptForBackward keptForBackward(const Graph& graph, const PlannedNode& call, const ExecutorOptions& options);

}  // namespace tandem
