#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/optimizer/adam_kernel.h"
#include "kernels/optimizer/device_hyperparameters.h"

namespace tandem {

/// Running means of the gradient (m) and of its square (v), [n] fp32, zero before the first step.
struct AdamMoments {
  at::Tensor mean, square;
};

/// Updates 1-D contiguous tensors of n elements in one pass; all lie on the device of `step`. `master` fp32 and the
/// moments are updated; `gradient` fp32 or 16-bit is read. The new weight is rounded into `weights`, unless that is the
/// memory of `master`.
void adamUpdate(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient, const AdamMoments& moments,
                const DeviceHyperparameters<AdamHyperparameters>& step);

/// LAMB's direction (You et al. 2019), [n] fp32: updates the moments by the gradient without weight decay, and returns
///   m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon) + weightDecay w
/// Where the step updates nothing, the moments stay and the result is undefined. REQUIRES: a step with rate 1 and not
/// decoupled.
at::Tensor lambDirection(const at::Tensor& master, const at::Tensor& gradient, const AdamMoments& moments,
                         const DeviceHyperparameters<AdamHyperparameters>& step);

/// The same as adamUpdate() with the ATen operations of PyTorch's optimizer, in the type of `master`: the oracle.
void adamUpdateReference(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient,
                         const AdamMoments& moments, const AdamHyperparameters& step);

}  // namespace tandem
