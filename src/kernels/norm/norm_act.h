#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "kernels/norm/channel_stats.h"

namespace tandem {

/// Batch-norm [+ residual] [+ ReLU] in one operation: y = relu(scale * (x - mean) / sqrt(variance + epsilon) + shift +
/// residual). Statistics as the batch_norm of the graph's catalog (graph/operation.h), in fp32 for every type of x.
struct NormActOptions {
  double epsilon = 1e-5, momentum = 0.1;
  bool relu = false;
  bool training = true;  ///< batch statistics, which also update the running ones; else the running statistics
};

/// All [C] fp32.
struct NormParameters {
  at::Tensor scale, shift, runningMean, runningVar;
};

/// What backward reads of a forward.
struct NormActSaved {
  at::Tensor x, y;  ///< y only where the ReLU's mask cannot be recomputed from x
  NormParameters parameters;
  at::Tensor mean, inverseDeviation;
  at::Tensor factor, offset;   ///< kernels only, [C] fp32: normalised, scaled and shifted, x is x * factor + offset
  at::Tensor mask;             ///< engines only (engine_norm.h): of the ReLU
  at::Tensor reserve;          ///< reference only: of the library that ATen chose
  int64_t implementation = 0;  ///< reference only: which one that was
};

struct NormActGradients {
  at::Tensor x;
  at::Tensor residual;      ///< undefined without one; without ReLU it is the gradient of the output
  at::Tensor scale, shift;  ///< [C] fp32
};

/// x and residual (undefined: none) [N, C, H, W] float, bfloat16 or half, of one type and memory format; on the CPU
/// also both blocked (kernels/conv/nchwc.h).
at::Tensor normAct(const at::Tensor& x, const at::Tensor& residual, const NormParameters& parameters,
                   const NormActOptions& options, NormActSaved& saved);

/// normAct() in training up to its statistics, where the sums of x's channels are known: `saved` and the running ones
/// are what normAct() leaves, but x is not read. normActAgain() then gives the output. REQUIRES: hasNormActKernel() for
/// x.
void normActStatistics(const at::Tensor& x, const ChannelStats& sums, const NormParameters& parameters,
                       const NormActOptions& options, NormActSaved& saved);

/// The output of normAct() again, from the statistics that `saved` holds, bit for bit; the running ones stay. x and
/// residual as they were. Afterwards `saved` is what it was after that call.
at::Tensor normActAgain(const at::Tensor& x, const at::Tensor& residual, const NormActOptions& options,
                        NormActSaved& saved);

/// Into `saved` what backward reads of a forward's input and output. The output may be undefined where it is not read.
void normActKeep(const at::Tensor& x, const at::Tensor& y, bool hasResidual, const NormActOptions& options,
                 NormActSaved& saved);

/// Kernels recompute the mask of a ReLU without a residual from x; where there is none backward reads the output.
bool hasNormActKernel(at::Device device, at::ScalarType type, at::MemoryFormat format);

/// `outputGradients` are one or more, to be added; memory that nobody else holds is overwritten with results.
/// `hasResidual` as in forward.
NormActGradients normActBackward(std::vector<at::Tensor> outputGradients, const NormActSaved& saved, bool hasResidual,
                                 const NormActOptions& options);

/// The same by ATen operations: the oracle of the tests, and what runs where there is no kernel (NCHW).
at::Tensor normActReference(const at::Tensor& x, const at::Tensor& residual, const NormParameters& parameters,
                            const NormActOptions& options, NormActSaved& saved);
NormActGradients normActBackwardReference(std::vector<at::Tensor> outputGradients, const NormActSaved& saved,
                                          bool hasResidual, const NormActOptions& options);

/// The sum of one or more gradients of one value, into the first where nobody else holds its memory.
at::Tensor addGradients(std::vector<at::Tensor> gradients);

}  // namespace tandem
