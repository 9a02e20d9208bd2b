#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/simd/element.h"

namespace tandem {

/// The element type fp32, bf16 or fp16. Throws InternalError naming `what` for any other type.
Element elementOf(at::ScalarType type, const char* what);
Element elementOf(const at::Tensor& tensor, const char* what);
bool isElement(at::ScalarType type);

/// The native handle (cudaStream_t) of the current stream of the tensor's GPU.
void* currentStream(const at::Tensor& tensor);

}  // namespace tandem
