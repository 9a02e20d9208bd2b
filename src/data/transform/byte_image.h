#pragma once

#include <cstdint>
#include <span>

namespace tandem {

/// Pixels that are changed in place: [H, W, 3], red first.
struct ByteImage {
  int64_t height = 0, width = 0;
  std::span<uint8_t> bytes;
};

}  // namespace tandem
