#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/bf16.h"

namespace tandem {

/// fp32 or bf16. Throws InternalError naming `what` for any other type.
Element elementOf(const at::Tensor& tensor, const char* what);

/// The native handle (cudaStream_t) of the current stream of the tensor's GPU.
void* currentStream(const at::Tensor& tensor);

}  // namespace tandem
