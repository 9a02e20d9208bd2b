#pragma once

#include <ATen/core/Tensor.h>

namespace tandem {

/// Squeeze-and-excite: the mean of each channel of an image, and the product with one number for each. `x` is
/// [N, C, H, W]; a mean or a gate is [N, C, 1, 1] of the same type. On the CPU x may be blocked
/// (kernels/conv/nchwc.h); then so are the others. Kernels serve tensors on the CPU in NHWC, in fp32, bf16 and fp16.
/// They add in fp32, in an order that does not depend on threads, and round once. ATen does all else. Any thread may
/// call.

/// What at::adaptive_avg_pool2d(x, {1, 1}) computes.
at::Tensor channelMeans(const at::Tensor& x);

/// The gradient of a tensor of `sizes`, [N, C, H, W], from that of its means: a view, whose strides over H and W are 0.
at::Tensor channelMeansBackward(const at::Tensor& gradient, at::IntArrayRef sizes);

/// x * gate, by ATen: a loop of our own was slower. The result has the memory format of x.
at::Tensor channelProduct(const at::Tensor& x, const at::Tensor& gate);

struct ChannelProductGradients {
  at::Tensor x, gate;
};

/// `gradient`: of the product. Its memory becomes that of the gradient of x if nobody else holds it.
ChannelProductGradients channelProductBackward(at::Tensor gradient, const at::Tensor& x, const at::Tensor& gate);

}  // namespace tandem
