#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

#include "formats/weights/file_tensor.h"

namespace tandem {

/// The type of a file's elements as libtorch names it; empty for one that no tensor here is read from or written as.
std::optional<at::ScalarType> scalarTypeOf(const ElementType& type);

/// A view of the values for writing. REQUIRES: they are contiguous, on the host, of a type that scalarTypeOf() gives,
/// and outlive the result.
FileTensor fileTensorOf(std::string name, const at::Tensor& values);

}  // namespace tandem
