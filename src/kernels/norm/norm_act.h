#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "kernels/norm/activation.h"
#include "kernels/norm/channel_stats.h"
#include "kernels/norm/statistics_exchange.h"

namespace tandem {

/// Batch-norm [+ residual] [+ activation] in one operation: y = activation(scale * (x - mean) / deviation + shift +
/// residual), where deviation = sqrt(variance + epsilon). Beside a residual the activation is ReLU or none. Statistics
/// are those of batch_norm in the graph's catalog (graph/operation.h), in fp32 for every type of x.
struct NormActOptions {
  double epsilon = 1e-5, momentum = 0.1;
  Activation activation = Activation::none;
  bool training = true;  ///< batch statistics, which also update the running ones; false: the running statistics
  /// In training the batch is that of all replicas. Null: of this one alone. It outlives the calls.
  StatisticsExchange* exchange = nullptr;
};

/// All [C] fp32.
struct NormParameters {
  at::Tensor scale, shift, runningMean, runningVar;
  /// [C], both of one type: where the gradients are wanted. Kernels of a GPU write there; all else gives new tensors.
  at::Tensor scaleGradient = {}, shiftGradient = {};
};

/// running = (1 - momentum) * running + momentum * batch, with the unbiased variance.
void updateRunning(const NormParameters& parameters, const JoinedMoments& batch, double momentum);

/// What backward reads of a forward call.
struct NormActSaved {
  at::Tensor x, y;  ///< y: only if a ReLU's mask cannot be recomputed from x and none was kept
  NormParameters parameters;
  at::Tensor mean, inverseDeviation;
  double values = 0;           ///< per channel, of which the batch's statistics are; 0: nobody asked for the number
  at::Tensor factor, offset;   ///< kernels only, [C] fp32: output before the activation = x * factor + offset
  at::Tensor reluMask;         ///< kernels of a GPU only: the ReLU's mask (gpu_relu_mask.h), where there is a residual
  at::Tensor mask;             ///< cuDNN's plans only (cudnn/batch_norm.h): the ReLU's mask
  at::Tensor reserve;          ///< reference only: state of the library that ATen selected
  int64_t implementation = 0;  ///< reference only: number of that library
};

struct NormActGradients {
  at::Tensor x;
  at::Tensor residual;  ///< undefined without a residual; without an activation it is the output's gradient
  at::Tensor scale,
      shift;  ///< [C], NormParameters::scaleGradient and shiftGradient themselves, or of a type of their own
};

/// x and residual (undefined: none) are [N, C, H, W] float, bfloat16 or half, of one type and memory format. On the CPU
/// both may be blocked (kernels/conv/nchwc.h).
at::Tensor normAct(const at::Tensor& x, const at::Tensor& residual, const NormParameters& parameters,
                   const NormActOptions& options, NormActSaved& saved);

/// The statistics of normAct() in training, from given channel statistics and without reading x. `saved` and the
/// running statistics are as after normAct(); normActAgain() then gives the output. REQUIRES: hasNormActKernel() for x.
void normActStatistics(const at::Tensor& x, const ChannelStats& sums, const NormParameters& parameters,
                       const NormActOptions& options, NormActSaved& saved);

/// The output of normAct() again, bit for bit, from the statistics in `saved`. Running statistics do not change. x and
/// residual must be unchanged. Afterwards `saved` is as after normAct().
at::Tensor normActAgain(const at::Tensor& x, const at::Tensor& residual, const NormActOptions& options,
                        NormActSaved& saved);

/// Stores what backward reads of forward's input and output in `saved`, if forward's own is gone. An output that is not
/// read may be undefined.
void normActKeep(const at::Tensor& x, const at::Tensor& y, bool hasResidual, const NormActOptions& options,
                 NormActSaved& saved);

/// Whether a kernel exists; `joins`: one with NormActOptions::exchange, which GPUs have not. Without a residual kernels
/// recompute from x what was activated. The reference does so too, but for ReLU, where it reads the output.
bool hasNormActKernel(at::Device device, at::ScalarType type, at::MemoryFormat format, bool joins = false);

/// Whether normAct() serves the activation there. GPUs' kernels have ReLU alone.
bool normActHas(Activation activation, at::Device device);

/// `outputGradients`: one or more, which are added; some may be views as channelMeansBackward() gives them. Memory that
/// nobody else holds is overwritten with results. `hasResidual`: as in forward.
NormActGradients normActBackward(std::vector<at::Tensor> outputGradients, const NormActSaved& saved, bool hasResidual,
                                 const NormActOptions& options);

/// The same with ATen operations: the oracle of the tests, and the path without a kernel (NCHW).
at::Tensor normActReference(const at::Tensor& x, const at::Tensor& residual, const NormParameters& parameters,
                            const NormActOptions& options, NormActSaved& saved);
NormActGradients normActBackwardReference(std::vector<at::Tensor> outputGradients, const NormActSaved& saved,
                                          bool hasResidual, const NormActOptions& options);

/// The sum of one or more gradients of one value; written into the first if nobody else holds its memory. A view as
/// channelMeansBackward() gives it becomes NHWC.
at::Tensor addGradients(std::vector<at::Tensor> gradients);

}  // namespace tandem
