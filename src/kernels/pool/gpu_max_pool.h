#pragma once

#include <math.h>

#include <variant>

#include "kernels/pool/gpu_pool_grid.h"

/// The block programs of maxPool() on a GPU, for tensors in NHWC. A thread has one packet: of the output in forward, of
/// the input's gradient in backward. It loads several packets before it uses the first.
namespace tandem {

namespace pool_programs {

inline int64_t blocksFor(const PacketGrid& grid) {
  return (static_cast<int64_t>(grid.count) + blockThreads - 1) / blockThreads;
}

/// Calls body(position) on each thread of a block that has a packet.
template <class Block, class Body>
TANDEM_THREAD void overPackets(const Block& block, const PacketGrid& grid, const Body& body) {
  block.each([&](int thread) {
    const int64_t number = block.index * blockThreads + thread;
    if (number < grid.count) body(grid.positionOf(static_cast<int>(number)));
  });
}

}  // namespace pool_programs

/// Writes the largest value of each window. Of equal ones the first counts; NaN counts as larger than all before it.
struct MaxPoolForward {
  PoolGrid grid;
  Access accesses;
  const void* x;
  void* y;
  uint8_t* places;  ///< like y: where the value was found, as PoolGrid::placeOf(); null: not written

  template <int width>
  struct Shared {};

  int64_t blocks() const { return pool_programs::blocksFor(grid.outputs); }
  Access access() const { return accesses; }

  template <class T, int width, class Block>
  TANDEM_THREAD void run(const Block& block, Shared<width>&) const {
    pool_programs::overPackets(block, grid.outputs,
                               [&](const PacketGrid::Position& window) { reduce<T, width, Block>(window); });
  }

 private:
  template <class T, int width, class Block>
  TANDEM_THREAD void reduce(const PacketGrid::Position& window) const {
    constexpr int together = 3;
    const PoolRange rows = grid.rows.inputsOf(window.row), columns = grid.columns.inputsOf(window.column);
    PacketGrid::Position at{window.image, rows.first, columns.first, window.packet};
    float largest[width];
    int found[width];
    TANDEM_UNROLL
    for (int i = 0; i < width; ++i) largest[i] = -INFINITY, found[i] = grid.placeOf(at, window);
    for (; at.row < rows.last; ++at.row) {
      for (int first = columns.first; first < columns.last; first += together) {
        Packet<T, width> values[together];
        int place[together];
        TANDEM_UNROLL
        for (int k = 0; k < together; ++k) {
          at.column = first + k < columns.last ? first + k : columns.last - 1;  // twice the last one changes nothing
          values[k] = Block::template load<width>(static_cast<const T*>(x) + grid.inputs.valueAt(at, width));
          place[k] = grid.placeOf(at, window);
        }
        TANDEM_UNROLL
        for (int k = 0; k < together; ++k) {
          TANDEM_UNROLL
          for (int i = 0; i < width; ++i) {
            const float value = Block::widen(values[k].values[i]);
            if (value > largest[i] || isnan(value)) largest[i] = value, found[i] = place[k];
          }
        }
      }
    }
    write<T, width, Block>(grid.outputs.valueAt(window, width), largest, found);
  }

  template <class T, int width, class Block>
  TANDEM_THREAD void write(int64_t to, const float (&largest)[width], const int (&found)[width]) const {
    Packet<T, width> values;
    Packet<uint8_t, width> bytes;
    TANDEM_UNROLL
    for (int i = 0; i < width; ++i) {
      values.values[i] = Block::template narrow<T>(largest[i]);
      bytes.values[i] = static_cast<uint8_t>(found[i]);
    }
    Block::store(static_cast<T*>(y) + to, values);
    if (places) Block::store(places + to, bytes);
  }
};

/// Writes the input's gradient. Each value adds what it gets from the windows that hold it, in fp32 in their order, and
/// rounds once.
struct MaxPoolBackward {
  PoolGrid grid;
  Access accesses;
  const void* gradient;   ///< of the output
  const uint8_t* places;  ///< as forward wrote them
  void* dx;

  template <int width>
  struct Shared {};

  int64_t blocks() const { return pool_programs::blocksFor(grid.inputs); }
  Access access() const { return accesses; }

  template <class T, int width, class Block>
  TANDEM_THREAD void run(const Block& block, Shared<width>&) const {
    pool_programs::overPackets(block, grid.inputs,
                               [&](const PacketGrid::Position& input) { gather<T, width, Block>(input); });
  }

 private:
  template <class T, int width, class Block>
  TANDEM_THREAD void gather(const PacketGrid::Position& input) const {
    constexpr int together = 2, nowhere = -1;
    const PoolRange rows = grid.rows.windowsOf(input.row), columns = grid.columns.windowsOf(input.column);
    PacketGrid::Position window{input.image, rows.first, columns.first, input.packet};
    float sums[width] = {};
    for (; window.row < rows.last; ++window.row) {
      for (int first = columns.first; first < columns.last; first += together) {
        Packet<T, width> gradients[together];
        Packet<uint8_t, width> found[together];
        int place[together];
        TANDEM_UNROLL
        for (int k = 0; k < together; ++k) {
          const bool exists = first + k < columns.last;
          window.column = exists ? first + k : columns.last - 1;
          const int64_t from = grid.outputs.valueAt(window, width);
          gradients[k] = Block::template load<width>(static_cast<const T*>(gradient) + from);
          found[k] = Block::template load<width>(places + from);
          place[k] = exists ? grid.placeOf(input, window) : nowhere;
        }
        TANDEM_UNROLL
        for (int k = 0; k < together; ++k) {
          TANDEM_UNROLL
          for (int i = 0; i < width; ++i) {
            if (found[k].values[i] == place[k]) sums[i] += Block::widen(gradients[k].values[i]);
          }
        }
      }
    }
    Packet<T, width> result;
    TANDEM_UNROLL
    for (int i = 0; i < width; ++i) result.values[i] = Block::template narrow<T>(sums[i]);
    Block::store(static_cast<T*>(dx) + grid.inputs.valueAt(input, width), result);
  }
};

using MaxPoolProgram = std::variant<MaxPoolForward, MaxPoolBackward>;

namespace gpu {
/// Enqueues a program.
void maxPool(const MaxPoolProgram& program, void* stream);
}  // namespace gpu

}  // namespace tandem
