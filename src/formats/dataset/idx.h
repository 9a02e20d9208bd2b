#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/io/result.h"

namespace tandem {

/// An IDX array of unsigned bytes, the format of MNIST (http://yann.lecun.com/exdb/mnist/). A file has two zero bytes,
/// a type code, the number of dimensions, and one big-endian 32-bit size per dimension. The values follow, last
/// dimension fastest.
struct Idx {
  int dimensions = 0;               ///< 1: labels, 3: images
  std::array<int64_t, 3> sizes{};   ///< [N] or [N, H, W]; each at least 1
  std::span<const uint8_t> values;  ///< refers to the parsed bytes

  /// Length of a file with this header.
  uint64_t fileBytes() const;
};

struct IdxLimits {
  int64_t count = 1 << 28;  ///< images or labels
  int64_t edge = 1 << 14;   ///< pixels of height or width
};

/// Number of dimensions if the bytes start like an IDX file of any type, else 0.
int idxDimensions(std::span<const uint8_t> head);

/// Parses the header at the start of a file. `values` stays empty, and the file's length is not checked.
Result<Idx> parseIdxHeader(std::span<const uint8_t> head, const IdxLimits& limits = {});

/// The header of a file with these dimensions and sizes.
std::vector<uint8_t> idxHeader(const Idx& idx);

/// Refuses other types than unsigned byte, and other dimensions than 1 and 3. Refuses sizes that are zero or over the
/// limits, and a file that is not exactly as long as its header says. Allocates nothing.
Result<Idx> parseIdx(std::span<const uint8_t> bytes, const IdxLimits& limits = {});

}  // namespace tandem
