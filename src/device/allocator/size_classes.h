#pragma once

#include <bit>
#include <cstddef>

namespace tandem {

/// Size classes of the CPU allocator: four per power of two, from 256 bytes: 256, 320, 384, 448, 512, 640, ...
/// A request wastes at most a fifth of its class, except below 256 bytes. All sizes are multiples of 64.
struct SizeClasses {
  static constexpr size_t smallest = 256;
  static constexpr int count = 4 * 10 + 1;  ///< up to 256 KiB

  /// The smallest class that holds `bytes`.
  static constexpr int classOf(size_t bytes) {
    if (bytes <= smallest) return 0;
    const int power = std::bit_width(bytes - 1) - 1;  // 2^power < bytes <= 2^(power + 1)
    const size_t quarter = size_t{1} << (power - 2);
    const auto step = static_cast<int>((bytes - 1 - (size_t{1} << power)) / quarter) + 1;  // 1..4
    return (power - 8) * 4 + step;
  }

  static constexpr size_t bytesOf(int sizeClass) {
    return (smallest << (sizeClass / 4)) / 4 * static_cast<size_t>(4 + sizeClass % 4);
  }
};

}  // namespace tandem
