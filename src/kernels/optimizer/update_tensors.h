#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/optimizer/update_kernel.h"

namespace tandem {

/// Fewest elements of one thread's share in an optimizer kernel.
inline constexpr int64_t updateGrainElements = 1 << 15;

/// Pointers of 1-D contiguous tensors of n elements on one device: `master` fp32, `weights` and `gradient` fp32 or
/// 16-bit. Throws InternalError naming `kernel` for any other tensors.
UpdateTensors updateTensors(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient, const char* kernel);

/// Pointer of optimizer state that has the form of `master`. Throws as above.
float* updateState(const at::Tensor& state, const at::Tensor& master, const char* kernel);

/// Address of a factor, [1] or [] fp32 on the device of `master`; null if it is undefined. Throws as above.
const float* updateFactor(const at::Tensor& factor, const at::Tensor& master, const char* kernel);

/// Whether a CPU update must be skipped; on a GPU only the kernel may read the flag.
inline bool isSkipped(const float* overflow) { return overflow != nullptr && *overflow != 0; }

}  // namespace tandem
