#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

#include "formats/weights/file_tensor.h"

namespace tandem {

/// libtorch's type for a file's element type; empty if Tandem neither reads nor writes tensors of that type.
std::optional<at::ScalarType> scalarTypeOf(const ElementType& type);

/// A view of the values for writing. REQUIRES: they are contiguous, on the host, of a type that scalarTypeOf() can
/// return, and outlive the result.
FileTensor fileTensorOf(std::string name, const at::Tensor& values);

}  // namespace tandem
