#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <vector>

#include "executor/compile/fusion.h"
#include "kernels/cudnn/batch_norm.h"
#include "kernels/cudnn/conv.h"
#include "kernels/norm/statistics_exchange.h"

namespace tandem {

struct ExecutorOptions;  // executor/executor.h

/// The parameters of a call, their gradients, and everything else that is bound once.
struct PlannedBinding {
  const PlannedNode* plan = nullptr;
  const Node* node = nullptr;               ///< node `plan->node` of the graph
  at::Tensor weight, bias;                  ///< views of the flat buffers, or undefined
  at::Tensor weightGradient, biasGradient;  ///< views of the flat gradients, which backward writes
  at::Tensor runningMean, runningVar;       ///< batch_norm only
  std::vector<bool> wantsGradient;          ///< per input
  bool mayOverwrite = false;                ///< nobody else reads the first input, and no backward needs it
  at::Generator* generator = nullptr;
  StatisticsExchange* statistics = nullptr;                  ///< batch_norm only: ExecutorOptions::statistics
  at::MemoryFormat format = at::MemoryFormat::ChannelsLast;  ///< of plain activations
  bool blockedOutput = false;            ///< of a convolution: whether y is blocked (kernels/conv/nchwc.h)
  PassAlgorithms algorithms{};           ///< of a convolution
  PassPlans engines{};                   ///< of a convolution on a GPU; `images` 0: ATen's
  NormPlans norms{};                     ///< of a batch-norm on a GPU
  ConvPlansOf plansOf = cudnnConvPlans;  ///< of a convolution: the source of plans
  /// Channel statistics that a convolution accumulates in training for the batch-norm behind it
  /// (PlannedNode::afterConvolution), which takes them. Null: nobody needs them.
  std::shared_ptr<ChannelStats> sums = {};
};

struct PassMode {
  bool training = true;   ///< batch statistics, dropout
  bool gradients = true;  ///< backward will follow: keep what it reads
  bool again = false;     ///< the last forward is repeated: draw the same numbers, leave running statistics unchanged
};

/// One call of the plan, forward and backward, without autograd.
class PlannedOperation {
 public:
  virtual ~PlannedOperation() = default;

  virtual at::Tensor forward(std::span<const at::Tensor> inputs, PassMode mode) = 0;

  /// Keeps what backward reads, as forward() does with gradients. `inputs` and `output` are those of this step's
  /// forward(). Values that keptForBackward() does not name may be undefined. REQUIRES: hasPlannedBackward(), and no
  /// KeptForBackward::bytesPerValue.
  virtual void keep(std::span<const at::Tensor> inputs, const at::Tensor& output) = 0;

  /// The gradient of each input; undefined if it is not wanted. Parameters' gradients are written into their slices.
  /// `outputGradients`: one from each reader of the output, which are added. Memory that nobody else holds may be
  /// reused. REQUIRES: forward() or keep() just before kept what is read here, which is released.
  virtual std::vector<at::Tensor> backward(std::vector<at::Tensor> outputGradients) = 0;
};

/// The planned operation, or autograd of the ATen call if there is none.
std::unique_ptr<PlannedOperation> makePlannedOperation(const PlannedBinding& binding);

/// Whether the operation has its own backward; others run by autograd of one ATen call.
bool hasPlannedBackward(std::string_view operation);

/// True when its backward writes the weight's gradient at once to where the optimizer reads it.
bool writesGradientInPlace(std::string_view operation);

/// What of a call its backward reads.
struct KeptForBackward {
  bool input = false;        ///< the first input
  bool otherInputs = false;  ///< all but the first
  bool output = false;
  int64_t bytesPerValue = 0;  ///< of the output, for what forward alone makes: places of maxima, a dropout's mask
};
KeptForBackward keptForBackward(const Graph& graph, const PlannedNode& call, const ExecutorOptions& options);

}  // namespace tandem
