#pragma once

#include <cstdint>
#include <vector>

namespace tandem {

/// As noise() of tests/golden/make_transforms.py.
inline std::vector<uint8_t> noise(uint64_t height, uint64_t width, uint64_t seed) {
  constexpr uint64_t prime = 4294967291;
  std::vector<uint8_t> pixels;
  for (uint64_t y = 0; y < height; ++y) {
    for (uint64_t x = 0; x < width; ++x) {
      for (uint64_t c = 0; c < 3; ++c) {
        const uint64_t mixed = (y * 2654435761 + x * 40503 + c * 7919 + seed * 104729) % prime;
        const uint64_t grain = (mixed * mixed % prime) >> 24, smooth = (3 * y + 2 * x + 60 * c) % 256;
        pixels.push_back(static_cast<uint8_t>((grain + 3 * smooth) / 4));
      }
    }
  }
  return pixels;
}

}  // namespace tandem
