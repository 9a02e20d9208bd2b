#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "formats/io/result.h"

namespace tandem {

/// A type of values in messages.
struct ArrayType {
  int32_t number;  ///< of tensorflow/core/framework/types.proto
  std::string_view name;
  int64_t bytes;
};

std::span<const ArrayType> arrayTypes();

/// An array of a message. Its values lie there, in row-major order.
struct MessageArray {
  const ArrayType* type = nullptr;
  std::vector<int64_t> shape;
  std::span<const uint8_t> bytes;
};

/// Most arrays of a message, and most dimensions of an array.
constexpr int64_t mostArrays = 16, mostDimensions = 8;

/// Reads a message of tensorpack's zmq_ops (https://github.com/tensorpack/zmq_ops). It holds the number of arrays, and
/// for each its type, the number of its dimensions, these, the number of its bytes, and the bytes. The bytes are a
/// 64-bit count, the others are 32 bits, all little-endian. Allocates for shapes alone.
Result<std::vector<MessageArray>> parseArrayMessage(std::span<const uint8_t> bytes);

/// The same, written. REQUIRES: the bytes of each array agree with its shape, which has 32-bit dimensions.
std::vector<uint8_t> arrayMessage(std::span<const MessageArray> arrays);

}  // namespace tandem
