#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/simd/image_strides.h"

namespace tandem {

/// Of activations [N, C, H, W] in channels-last memory, or blocked (kernels/conv/nchwc.h) if need be.
ImageOrder orderOf(const at::Tensor& x, int64_t channels);

/// Of a Convolution's weight, in channels-last memory or in blocks, or of what lies as it does.
WeightOrder orderOf(const at::Tensor& weight);

/// Whether the kernels that take a WeightOrder serve: weights in channels-last memory, or in blocks.
bool hasOrder(const at::Tensor& weight);

/// The sum of dy over all but the channels, in fp32, rounded once into `gradient` [C].
void sumChannels(const at::Tensor& dy, const at::Tensor& gradient);

}  // namespace tandem
