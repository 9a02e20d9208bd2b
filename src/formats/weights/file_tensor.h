#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/weights/element_type.h"

namespace tandem {

/// A tensor of a weights file; a view of the file's bytes. Everything was checked when the file was parsed: what the
/// shape and the strides reach lies within `bytes`.
struct FileTensor {
  static constexpr size_t maxRank = 32;

  std::string name;
  const ElementType* type = nullptr;
  std::vector<int64_t> shape;      ///< outermost first; a scalar has none
  std::vector<int64_t> strides;    ///< in elements; empty: row-major without gaps
  std::span<const uint8_t> bytes;  ///< from the first element to the last one

  uint64_t elements() const;
  uint64_t byteCount() const { return elements() * type->bytes; }
};

/// Number of bytes of a row-major tensor; empty when it exceeds 64 bits. REQUIRES: no negative size.
std::optional<uint64_t> byteCount(std::span<const int64_t> shape, uint64_t elementBytes);

/// Empty when the strides are those of a row-major tensor, else the given ones. (The stride of a dimension of size 1
/// is never used.)
std::vector<int64_t> stridesUnlessRowMajor(std::span<const int64_t> shape, std::span<const int64_t> strides);

/// The elements in row-major order: the tensor's own bytes, or `scratch` filled with them.
std::span<const uint8_t> rowMajorBytes(const FileTensor& tensor, std::vector<uint8_t>& scratch);

/// Whether names may have slashes inside, as Keras' do ("conv1_conv/kernel").
enum class Slashes { refused, inside };

/// What is wrong with a tensor's name, if anything: at most 256 bytes of UTF-8 without control characters, backslashes
/// and slashes. With Slashes::inside slashes join parts that are neither empty nor "." nor "..": no such name leads out
/// of a folder.
std::optional<std::string> nameFault(std::string_view name, Slashes slashes = Slashes::refused);

/// A name that occurs twice, if any.
std::optional<std::string> repeatedName(std::span<const FileTensor> tensors);

}  // namespace tandem
