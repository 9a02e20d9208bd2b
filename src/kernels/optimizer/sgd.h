#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/optimizer/device_hyperparameters.h"
#include "kernels/optimizer/sgd_step.h"

namespace tandem {

/// One pass over 1-D contiguous tensors of n elements on one device, the step's too: `master` fp32 is updated,
/// `velocity` fp32 too (where momentum is 0 it is not touched, and may be undefined), `gradient` fp32 or 16-bit is
/// read, and the new weight is rounded into `weights` unless that is the same memory as `master`.
void sgdUpdate(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient, at::Tensor& velocity,
               const DeviceHyperparameters<SgdHyperparameters>& step);

/// The same by ATen operations: the oracle of the tests.
void sgdUpdateReference(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient, at::Tensor& velocity,
                        const SgdHyperparameters& step);

}  // namespace tandem
