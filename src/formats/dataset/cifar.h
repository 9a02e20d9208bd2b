#pragma once

#include <cstdint>
#include <span>

#include "formats/io/result.h"

namespace tandem {

/// A batch of CIFAR-10's "binary version" (https://www.cs.toronto.edu/~kriz/cifar.html). A record is a label byte, then
/// 32 x 32 red, green and blue bytes, each plane in row-major order. The object refers to the parsed bytes.
struct Cifar10 {
  static constexpr int64_t edge = 32;
  static constexpr int64_t planeBytes = edge * edge;
  static constexpr int64_t recordBytes = 1 + 3 * planeBytes;
  static constexpr int64_t classes = 10;

  std::span<const uint8_t> records;

  int64_t count() const { return static_cast<int64_t>(records.size()) / recordBytes; }
  uint8_t label(int64_t i) const { return records[i * recordBytes]; }
  /// Shape [3, 32, 32].
  std::span<const uint8_t> planes(int64_t i) const { return records.subspan(i * recordBytes + 1, 3 * planeBytes); }
};

/// True if the bytes start like a Python pickle of protocol 2 or later.
bool isPickle(std::span<const uint8_t> head);

/// The hint for a user who has the "python version".
extern const char* const cifar10PickleHint;

/// Refuses an empty file, a length that is not a multiple of 3073, and a label above 9. Refuses a Python pickle and
/// CIFAR-100's 3074-byte records by name. Allocates nothing.
Result<Cifar10> parseCifar10(std::span<const uint8_t> bytes);

}  // namespace tandem
