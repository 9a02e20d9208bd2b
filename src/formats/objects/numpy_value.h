#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "formats/io/result.h"

namespace tandem {

/// An array of NumPy's type uint8. Its values lie in the parsed bytes, in row-major order.
struct ByteArray {
  std::vector<int64_t> shape;
  std::span<const uint8_t> bytes;
};

/// NumPy's own limit before its version 2.
constexpr size_t mostArraySides = 32;

/// What NumPy stored with a type: the order of bytes ('<', '>' or '|'), a letter, and the number of bytes; "|u1",
/// "<i8".
struct NumpyBytes {
  uint64_t offset = 0;  ///< for messages
  std::string_view type;
  std::span<const uint8_t> bytes;
};

/// Refuses another type than uint8, and a shape that does not agree with the number of bytes.
Result<ByteArray> byteArrayOf(const NumpyBytes& stored, std::vector<int64_t> shape);

/// A whole number. Refuses other types, those of big-endian machines, and numbers beyond 63 bits.
Result<int64_t> integerOf(const NumpyBytes& stored);

}  // namespace tandem
