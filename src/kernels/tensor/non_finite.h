#pragma once

#include <ATen/core/Tensor.h>

namespace tandem {

/// Sets `mark` [1] fp32 to 1 where one of `values` [n], contiguous, float, bfloat16 or half, on one device with `mark`,
/// is infinite or no number; else leaves it as it is. The host does not wait.
///
/// (at::_amp_foreach_non_finite_check_and_unscale_ writes the values too, which costs another pass over memory: here
/// the update divides the scale out.)
void markNonFinite(const at::Tensor& values, at::Tensor mark);

}  // namespace tandem
