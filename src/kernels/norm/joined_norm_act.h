#pragma once

#include <vector>

#include "kernels/norm/norm_act.h"

namespace tandem {

/// All dimensions but the channels, which come second.
std::vector<int64_t> othersOf(const at::Tensor& x);

/// [C] as [1, C, 1, 1], or as wide as x is, in its type.
at::Tensor perChannel(const at::Tensor& values, const at::Tensor& x);

/// The gradient before the activation, from that of the output: by the output in `saved`, or by what was activated,
/// computed again from x. Not for a sum with a residual without its output.
at::Tensor gradientBeforeActivation(const at::Tensor& outputGradient, const NormActSaved& saved,
                                    const NormActOptions& options);

/// normAct() in training over the batches of all replicas, by ATen: where no kernel of this processor serves. `saved`
/// is as normActReference() leaves it, but for its `values`. REQUIRES: options.training and options.exchange.
at::Tensor normActJoined(const at::Tensor& x, const at::Tensor& residual, const NormParameters& parameters,
                         const NormActOptions& options, NormActSaved& saved);

/// Its output again, from the statistics in `saved`, without an exchange.
at::Tensor normActJoinedAgain(const at::Tensor& x, const at::Tensor& residual, const NormActOptions& options,
                              NormActSaved& saved);

NormActGradients normActJoinedBackward(std::vector<at::Tensor> outputGradients, const NormActSaved& saved,
                                       bool hasResidual, const NormActOptions& options);

}  // namespace tandem
