#pragma once

#include <ATen/core/Tensor.h>

namespace tandem {

/// Channels of one block: vectorLanes().
int64_t blockChannels();

/// Blocked activations: memory [N, C / b, H, W, b] with b = blockChannels(), what oneDNN calls nChw16c or nChw8c. They
/// are held as a channels-last tensor of shape [N * C / b, b, H, W], so that every operation that treats channels apart
/// (pooling, ReLU, sums) serves them as it is.
bool canBlock(int64_t channels);

/// Memory for activations [N, C, H, W]: channels-last, or blocked. REQUIRES then: canBlock(C).
at::Tensor emptyActivations(at::IntArrayRef shape, bool blocked, const at::TensorOptions& options);

/// plain [N, C, H, W], in any memory format. REQUIRES: canBlock(C).
at::Tensor toBlocked(const at::Tensor& plain);

/// [N, C, H, W] in channels-last memory.
at::Tensor fromBlocked(const at::Tensor& blocked, int64_t images);

/// Memory for fp32 weights of a convolution between blocked activations, [outputs / b, inputs / b, kH, kW, b, b]
/// (oneDNN: OIhw16i16o), as the view [outputs / b, b, inputs / b, b, kH, kW].
at::Tensor emptyBlockedWeight(at::IntArrayRef plainShape);

/// True when `x`, known to hold `channels`, is blocked. With C = b both forms are one.
inline bool isBlocked(const at::Tensor& x, int64_t channels) { return x.size(1) != channels; }

}  // namespace tandem
