#pragma once

#include <ATen/core/Tensor.h>

#include <initializer_list>

#include "kernels/gpu/host_testable_block.h"
#include "kernels/simd/element.h"

namespace tandem {

/// The element type fp32, bf16 or fp16. Throws InternalError naming `what` for any other type.
Element elementOf(at::ScalarType type, const char* what);
Element elementOf(const at::Tensor& tensor, const char* what);
bool isElement(at::ScalarType type);

/// The access of a GPU's thread, in values of a type: the widest if the number of channels and the addresses allow it,
/// else 1.
int accessWidth(Element type, int widest, int64_t channels, std::initializer_list<const void*> addresses);

/// The same with the widest access of a block program.
template <class Program>
int accessWidth(Element type, int64_t channels, std::initializer_list<const void*> addresses) {
  return accessWidth(type, widestAccess<Program>(bytesOf(type)), channels, addresses);
}

/// The native handle (cudaStream_t) of the current stream of the tensor's GPU.
void* currentStream(const at::Tensor& tensor);

}  // namespace tandem
