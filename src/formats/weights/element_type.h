#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tandem {

/// A type of tensor elements that weights files may hold.
struct ElementType {
  std::string_view name;     ///< as safetensors writes it
  std::string_view storage;  ///< PyTorch's class of storages, empty where torch.save has none for it
  uint64_t bytes;
  uint64_t nonFinite;  ///< bits that are all set in NaN and infinities, and in nothing else; 0: integers

  bool floating() const { return nonFinite != 0; }
};

std::span<const ElementType> elementTypes();

/// Null when there is no such row.
const ElementType* elementTypeNamed(std::string_view name);
const ElementType* elementTypeOfStorage(std::string_view storageClass);

/// NaN and infinities among the elements. REQUIRES: bytes.size() is a multiple of type.bytes.
uint64_t countNonFinite(const ElementType& type, std::span<const uint8_t> bytes);

}  // namespace tandem
