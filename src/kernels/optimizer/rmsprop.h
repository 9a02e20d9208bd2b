#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/optimizer/device_hyperparameters.h"
#include "kernels/optimizer/rmsprop_kernel.h"

namespace tandem {

/// Running mean of the gradient's square, and the momentum's velocity, [n] fp32, zero before the first step. Without
/// momentum the velocity is undefined.
struct RmspropState {
  at::Tensor square, velocity;
};

/// Updates 1-D contiguous tensors of n elements in one pass; all lie on the device of `step`. `master` fp32 and the
/// state are updated; `gradient` fp32 or 16-bit is read. The new weight is rounded into `weights`, unless that is the
/// memory of `master`. REQUIRES: a velocity, if the step has a momentum.
void rmspropUpdate(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient, const RmspropState& state,
                   const DeviceHyperparameters<RmspropHyperparameters>& step);

/// The same with the ATen operations of PyTorch's optimizer, in the type of `master`: the oracle.
void rmspropUpdateReference(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient,
                            const RmspropState& state, const RmspropHyperparameters& step);

}  // namespace tandem
