#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/optimizer/device_hyperparameters.h"
#include "kernels/optimizer/sgd_kernel.h"

namespace tandem {

/// Updates 1-D contiguous tensors of n elements in one pass; all lie on the device of `step`. `master` and `velocity`,
/// both fp32, are updated; `gradient` fp32 or 16-bit is read. The new weight is rounded into `weights`, unless that is
/// the memory of `master`. With momentum 0 `velocity` is not touched and may be undefined. `trust`: [1] or [] fp32, a
/// factor of gradient and weight decay, which the update reads; undefined: 1.
void sgdUpdate(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient, at::Tensor& velocity,
               const DeviceHyperparameters<SgdHyperparameters>& step, const at::Tensor& trust = {});

/// The same with ATen operations, in the type of `master`: the oracle.
void sgdUpdateReference(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient, at::Tensor& velocity,
                        const SgdHyperparameters& step);

}  // namespace tandem
