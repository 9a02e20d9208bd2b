#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/simd/image_strides.h"

namespace tandem {

/// The order of activations [N, C, H, W] in channels-last memory, or blocked (kernels/conv/nchwc.h).
ImageOrder orderOf(const at::Tensor& x, int64_t channels);

/// The order of a Convolution's weight, in channels-last memory or in blocks, or of a tensor with the same strides.
WeightOrder orderOf(const at::Tensor& weight);

/// Whether a WeightOrder can describe the weight: channels-last memory, or blocks.
bool hasOrder(const at::Tensor& weight);

/// Writes the sum of dy over all dimensions but the channels, in fp32, rounded once, into `gradient` [C].
void sumChannels(const at::Tensor& dy, const at::Tensor& gradient);

}  // namespace tandem
