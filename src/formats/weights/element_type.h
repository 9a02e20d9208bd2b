#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tandem {

/// A type of tensor elements in weights files.
struct ElementType {
  std::string_view name;     ///< name in safetensors
  std::string_view storage;  ///< PyTorch's storage class; empty if torch.save has none
  uint64_t bytes;
  uint64_t nonFinite;  ///< bits that are all set in NaN and infinities only; 0: integers

  bool floating() const { return nonFinite != 0; }
};

std::span<const ElementType> elementTypes();

/// Null if there is no such row.
const ElementType* elementTypeNamed(std::string_view name);
const ElementType* elementTypeOfStorage(std::string_view storageClass);

/// Number of NaN and infinities among the elements. REQUIRES: bytes.size() is a multiple of type.bytes.
uint64_t countNonFinite(const ElementType& type, std::span<const uint8_t> bytes);

}  // namespace tandem
