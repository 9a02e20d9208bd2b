#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "formats/io/result.h"

namespace tandem {

/// What differs between the "binary versions" of CIFAR (https://www.cs.toronto.edu/~kriz/cifar.html). A record is its
/// label bytes, then 32 x 32 red, green and blue bytes, each plane in row-major order.
struct CifarLayout {
  static constexpr int64_t edge = 32;
  static constexpr int64_t planeBytes = edge * edge;

  std::string_view name;     ///< "CIFAR-10", "CIFAR-100"
  std::string_view dataset;  ///< "cifar10", "cifar100"
  int64_t labelBytes;        ///< the last is the class; the one before, if there is one, a class of classes
  int64_t classes;
  int64_t groups;  ///< classes of classes; 0: none

  int64_t recordBytes() const { return labelBytes + 3 * planeBytes; }
};

/// CIFAR-10, CIFAR-100.
std::span<const CifarLayout> cifarLayouts();

/// The layout of a file of this size; null: of none. Where the size serves several, that is the first.
const CifarLayout* cifarLayoutOf(uint64_t bytes);

/// A file of records. The object refers to the parsed bytes.
struct CifarBatch {
  const CifarLayout* layout = nullptr;
  std::span<const uint8_t> records;

  int64_t count() const { return static_cast<int64_t>(records.size()) / layout->recordBytes(); }
  uint8_t label(int64_t i) const { return records[i * layout->recordBytes() + layout->labelBytes - 1]; }
  /// Shape [3, 32, 32].
  std::span<const uint8_t> planes(int64_t i) const {
    return records.subspan(i * layout->recordBytes() + layout->labelBytes, 3 * CifarLayout::planeBytes);
  }
};

/// True if the bytes start like a Python pickle of protocol 2 or later.
bool isPickle(std::span<const uint8_t> head);

/// The hint for a user who has the "python version".
extern const char* const cifarPickleHint;

/// Refuses an empty file, a length that is no multiple of a record's, a label beyond the classes, and a Python pickle.
/// Allocates nothing.
Result<CifarBatch> parseCifar(std::span<const uint8_t> bytes);

}  // namespace tandem
