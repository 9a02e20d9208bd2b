#include "kernels/pool/gpu_pool_grid.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(PacketGrid, NumbersPacketsInMemoryOrder) {
  const int images = 3, rows = 5, columns = 7, packets = 2, width = 8;
  const PacketGrid grid{images * rows * columns * packets, Divisor(rows), Divisor(columns), Divisor(packets)};
  int number = 0;
  for (int image = 0; image < images; ++image) {
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        for (int packet = 0; packet < packets; ++packet, ++number) {
          const PacketGrid::Position at = grid.positionOf(number);
          EXPECT_EQ(at.image, image);
          EXPECT_EQ(at.row, row);
          EXPECT_EQ(at.column, column);
          EXPECT_EQ(at.packet, packet);
          EXPECT_EQ(grid.valueAt(at, width), number * width);
        }
      }
    }
  }
  EXPECT_EQ(number, grid.count);
}

TEST(PacketGrid, FindsValuesBeyondTheReachOfAnInt) {
  const PacketGrid grid{PacketGrid::most, Divisor(1 << 15), Divisor(1 << 14), Divisor(2)};
  EXPECT_EQ(grid.valueAt(grid.positionOf(PacketGrid::most - 1), 8), (int64_t{PacketGrid::most} - 1) * 8);
}

struct Axis {
  int inputs, kernel, stride, padding;
};

/// Every axis with windows that each hold an input, up to some size.
template <class Body>
void overAxes(const Body& body) {
  for (int inputs = 1; inputs <= 9; ++inputs) {
    for (int kernel = 1; kernel <= 5; ++kernel) {
      for (int stride = 1; stride <= 6; ++stride) {
        for (int padding = 0; 2 * padding <= kernel; ++padding) {
          if (inputs + 2 * padding >= kernel) body(Axis{inputs, kernel, stride, padding});
        }
      }
    }
  }
}

bool holds(const PoolRange& range, int value) { return value >= range.first && value < range.last; }

TEST(PoolAxis, KnowsTheInputsOfAWindowAndTheWindowsOfAnInput) {
  overAxes([](const Axis& a) {
    const int most = (a.inputs + a.padding - 1) / a.stride + 1;  // as many windows as begin before the end
    for (int windows = 1; windows <= most; ++windows) {
      const PoolAxis axis{a.inputs, windows, a.kernel, a.padding, Divisor(a.stride)};
      for (int window = 0; window < windows; ++window) {
        EXPECT_LT(axis.inputsOf(window).first, axis.inputsOf(window).last);
        for (int input = 0; input < a.inputs; ++input) {
          const int place = input - (window * a.stride - a.padding);
          const bool expected = place >= 0 && place < a.kernel;
          EXPECT_EQ(axis.placeOf(input, window), place);
          EXPECT_EQ(holds(axis.inputsOf(window), input), expected);
          EXPECT_EQ(holds(axis.windowsOf(input), window), expected);
        }
      }
    }
  });
}

}  // namespace
}  // namespace tandem
