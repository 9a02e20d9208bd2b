#pragma once

#include "kernels/gpu/divisor.h"

namespace tandem {

/// Numbers the packets of a tensor [images, rows, columns, channels] in memory order. A packet is what a thread reads
/// or writes in one access: neighbouring channels of a pixel.
struct PacketGrid {
  static constexpr int most = 1 << 30;  ///< packets: all sums of positions are ints
  int count;                            ///< of the tensor
  Divisor rows, columns, packets;       ///< the last: of a pixel

  struct Position {
    int image, row, column, packet;
  };

  TANDEM_THREAD Position positionOf(int number) const {
    const int pixel = packets.quotient(number), line = columns.quotient(pixel), image = rows.quotient(line);
    return {image, line - image * rows.value(), pixel - line * columns.value(), number - pixel * packets.value()};
  }

  /// The index of the packet's first value, if a packet has `width` values.
  TANDEM_THREAD int64_t valueAt(const Position& at, int width) const {
    const int line = at.image * rows.value() + at.row;
    return static_cast<int64_t>((line * columns.value() + at.column) * packets.value() + at.packet) * width;
  }
};

/// Rows or columns first, first + 1, ... below `last`.
struct PoolRange {
  int first, last;
};

/// The rows or the columns of a pool's windows. Window w begins at input w * stride - padding, which may be before the
/// first, and has `kernel` places. A place may lie beyond the inputs.
struct PoolAxis {
  int inputs, windows, kernel, padding;
  Divisor stride;

  TANDEM_THREAD int placeOf(int input, int window) const { return input + padding - window * stride.value(); }

  /// The inputs of a window.
  TANDEM_THREAD PoolRange inputsOf(int window) const {
    const int begin = window * stride.value() - padding, end = begin + kernel;
    return {begin < 0 ? 0 : begin, end < inputs ? end : inputs};
  }

  /// The windows that hold an input; first >= last: none does.
  TANDEM_THREAD PoolRange windowsOf(int input) const {
    const int place = input + padding;  // in window 0, if that has so many
    const int end = stride.quotient(place) + 1;
    return {place < kernel ? 0 : stride.quotient(place - kernel) + 1, end < windows ? end : windows};
  }
};

/// Where the values of a pool lie.
struct PoolGrid {
  PacketGrid inputs, outputs;
  PoolAxis rows, columns;

  /// The number of an input's place in a window, row by row.
  TANDEM_THREAD int placeOf(const PacketGrid::Position& input, const PacketGrid::Position& window) const {
    return rows.placeOf(input.row, window.row) * columns.kernel + columns.placeOf(input.column, window.column);
  }
};

}  // namespace tandem
