#pragma once

#include <ATen/Functions.h>

namespace tandem {

/// Whether nobody else can see that the memory is overwritten.
inline bool ownsMemoryAlone(const at::Tensor& tensor) {
  return tensor.use_count() == 1 && tensor.storage().use_count() == 1;
}

/// Memory for a result like `like`: that of `reusable`, a tensor of the same shape and type, if nobody else holds it.
inline at::Tensor memoryFor(const at::Tensor& like, const at::Tensor& reusable) {
  return ownsMemoryAlone(reusable) ? reusable : at::empty_like(like);
}

}  // namespace tandem
