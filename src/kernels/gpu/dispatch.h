#pragma once

#include <ATen/core/Tensor.h>

#include <initializer_list>

#include "kernels/simd/element.h"

namespace tandem {

/// The element type fp32, bf16 or fp16. Throws InternalError naming `what` for any other type.
Element elementOf(at::ScalarType type, const char* what);
Element elementOf(const at::Tensor& tensor, const char* what);
bool isElement(at::ScalarType type);

/// The access of a GPU's thread, in values of `bytes` bytes: the widest that its program has (widestAccess()) if the
/// number of channels and the addresses allow it, else 1.
int accessWidth(int widest, int bytes, int64_t channels, std::initializer_list<const void*> addresses);

/// The native handle (cudaStream_t) of the current stream of the tensor's GPU.
void* currentStream(const at::Tensor& tensor);

}  // namespace tandem
