#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/optimizer/update_kernel.h"

namespace tandem {

/// Elements that a thread of an optimizer kernel takes at least.
inline constexpr int64_t updateGrainElements = 1 << 15;

/// The pointers of 1-D contiguous tensors of n elements on one device: `master` fp32, `weights` and `gradient` fp32 or
/// 16-bit. Throws InternalError naming `kernel` for any other.
UpdateTensors updateTensors(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient, const char* kernel);

/// The pointer of optimizer state like `master`; throws as above.
float* updateState(const at::Tensor& state, const at::Tensor& master, const char* kernel);

/// Of an update on a CPU, where the host may look.
inline bool isSkipped(const float* overflow) { return overflow != nullptr && *overflow != 0; }

}  // namespace tandem
