#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/norm/activation.h"

namespace tandem {

/// Replaces y by its activation.
void activate(at::Tensor& y, Activation activation);

/// The gradient of what was activated, from that of the output. `value`: what was activated, or for ReLU and
/// ReLU6 the output.
at::Tensor activationGradient(const at::Tensor& outputGradient, const at::Tensor& value, Activation activation);

}  // namespace tandem
