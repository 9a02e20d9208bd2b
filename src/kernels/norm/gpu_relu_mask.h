#pragma once

#include "kernels/gpu/host_testable_block.h"

namespace tandem {

/// One bit for each value of y, which is set where the ReLU's gradient passes: unless y <= 0, so also where y is not a
/// number. A byte holds the bits of 2^log neighbouring channels, the first in bit 0. So it is written by one thread.
struct ReluMask {
  uint8_t* bytes;  ///< [rows, channels / 2^log]; null: no mask
  int log;

  int width() const { return 1 << log; }
  static int logOf(int width) { return width == 8 ? 3 : width == 4 ? 2 : 0; }

  /// The bits of `width` neighbours in memory order from `place` on, the first in bit 0, and more bits above them.
  /// REQUIRES: `place` is a multiple of `width`, and width <= width().
  TANDEM_THREAD unsigned at(int64_t place) const {
    return static_cast<unsigned>(bytes[place >> log]) >> (place & ((1 << log) - 1));
  }

  /// REQUIRES: `place` is a multiple of width().
  TANDEM_THREAD void set(int64_t place, unsigned bits) const { bytes[place >> log] = static_cast<uint8_t>(bits); }
};

/// The bits of a packet of y.
template <class Block, class T, int width>
TANDEM_THREAD unsigned reluBitsOf(const Packet<T, width>& y) {
  unsigned bits = 0;
  TANDEM_UNROLL
  for (int i = 0; i < width; ++i) bits |= Block::widen(y.values[i]) <= 0 ? 0U : 1U << i;
  return bits;
}

}  // namespace tandem
