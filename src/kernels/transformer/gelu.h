#pragma once

#include <ATen/core/Tensor.h>

namespace tandem {

/// GELU by the error function: x times the share of the standard normal distribution below x (Hendrycks and Gimpel,
/// 2016). Kernels serve dense tensors on the CPU in fp32, bf16 and fp16, of any memory format. They compute in fp32 and
/// round once. ATen does all else. Any thread may call.
at::Tensor geluForward(const at::Tensor& x);

/// The gradient of x, from that of geluForward(x). Its memory is that of `gradient` if nobody else holds it.
at::Tensor geluBackward(at::Tensor gradient, const at::Tensor& x);

}  // namespace tandem
