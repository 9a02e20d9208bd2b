#pragma once

#include <ATen/core/Tensor.h>

namespace tandem {

/// Channels per block: vectorLanes().
int64_t blockChannels();

/// Blocked activations: memory [N, C / b, H, W, b] with b = blockChannels(), oneDNN's nChw16c or nChw8c. They are held
/// as a channels-last tensor of shape [N * C / b, b, H, W]. So operations that treat channels apart (pooling, ReLU,
/// sums) need no change.
bool canBlock(int64_t channels);

/// The sides of a convolution that may be in blocks. No block is shared by groups, but in a depthwise convolution,
/// where each channel is a group.
struct BlockedSides {
  bool input, output;
};
BlockedSides blockedSides(int64_t inputs, int64_t outputs, int64_t groups);

/// Memory for activations [N, C, H, W]: channels-last or blocked. REQUIRES for blocked: canBlock(C).
at::Tensor emptyActivations(at::IntArrayRef shape, bool blocked, const at::TensorOptions& options);

/// Blocks `plain` [N, C, H, W] of any memory format. REQUIRES: canBlock(C).
at::Tensor toBlocked(const at::Tensor& plain);

/// The inverse: [N, C, H, W] in channels-last memory.
at::Tensor fromBlocked(const at::Tensor& blocked, int64_t images);

/// Memory for fp32 weights between blocked activations: [outputs / b, inputs / b, kH, kW, b, b] (oneDNN: OIhw16i16o),
/// as the view [outputs / b, b, inputs / b, b, kH, kW].
at::Tensor emptyBlockedWeight(at::IntArrayRef plainShape);

/// Whether `x` with `channels` channels is blocked. If there is one block, both forms are the same.
inline bool isBlocked(const at::Tensor& x, int64_t channels) { return x.size(1) != channels; }

}  // namespace tandem
