#pragma once

#include <ATen/core/Tensor.h>

namespace tandem {

/// Layer-norm over the channels of each pixel: y = (x - mean) / sqrt(variance + epsilon) * scale + shift. `x` is
/// [N, C, H, W]; scale and shift are [C], of fp32 or the type of x. A kernel serves tensors on the CPU in NHWC, in
/// fp32, bf16 and fp16. It computes in fp32, in an order that does not depend on threads, and rounds once. ATen does
/// all else. Any thread may call.

/// What the gradient reads, one number for each pixel.
struct LayerNormSaved {
  at::Tensor mean, inverseDeviation;
};

at::Tensor layerNorm(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift, double epsilon,
                     LayerNormSaved& saved);

struct LayerNormGradients {
  at::Tensor x;             ///< like x
  at::Tensor scale, shift;  ///< [C], of the type of scale
};

/// `gradient`: of y. Its memory becomes that of the gradient of x if nobody else holds it. `saved`: of layerNorm() of
/// this x.
LayerNormGradients layerNormBackward(at::Tensor gradient, const at::Tensor& x, const at::Tensor& scale,
                                     const LayerNormSaved& saved);

}  // namespace tandem
