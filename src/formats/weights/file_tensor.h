#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/weights/element_type.h"

namespace tandem {

/// A tensor of a weights file, which refers to the file's bytes. The parser has checked that all elements that shape
/// and strides reach lie within `bytes`.
struct FileTensor {
  static constexpr size_t maxRank = 32;

  std::string name;
  const ElementType* type = nullptr;
  std::vector<int64_t> shape;      ///< outermost first; a scalar has none
  std::vector<int64_t> strides;    ///< in elements; empty: row-major without gaps
  std::span<const uint8_t> bytes;  ///< from the first to the last element

  uint64_t elements() const;
  uint64_t byteCount() const { return elements() * type->bytes; }
};

/// Number of bytes of a row-major tensor. Empty if it exceeds 64 bits. REQUIRES: no negative size.
std::optional<uint64_t> byteCount(std::span<const int64_t> shape, uint64_t elementBytes);

/// Returns the strides, or nothing if they are those of a row-major tensor. The stride of a dimension of size 1 is
/// ignored.
std::vector<int64_t> stridesUnlessRowMajor(std::span<const int64_t> shape, std::span<const int64_t> strides);

/// The elements in row-major order: the tensor's own bytes, or a copy in `scratch`.
std::span<const uint8_t> rowMajorBytes(const FileTensor& tensor, std::vector<uint8_t>& scratch);

/// Whether names may contain slashes, as Keras' names do ("conv1_conv/kernel").
enum class Slashes { refused, inside };

/// An error text if a tensor's name is not acceptable. A name has at most 256 bytes of UTF-8 without control
/// characters, backslashes and slashes. With Slashes::inside, slashes join parts that are neither empty nor "." nor
/// "..", so no name leads out of a folder.
std::optional<std::string> nameFault(std::string_view name, Slashes slashes = Slashes::refused);

/// The first name that occurs twice, if any.
std::optional<std::string> repeatedName(std::span<const FileTensor> tensors);

}  // namespace tandem
