#pragma once

#include <ATen/core/Tensor.h>

namespace tandem {

/// Sets `mark` [1] fp32 to 1 if one of `values` is infinite or NaN; otherwise leaves it unchanged. `values` [n]:
/// contiguous, float, bfloat16 or half, on the device of `mark`. The host does not wait.
///
/// (at::_amp_foreach_non_finite_check_and_unscale_ also writes the values, which costs another pass over memory. Here
/// the update divides by the scale.)
void markNonFinite(const at::Tensor& values, at::Tensor mark);

}  // namespace tandem
