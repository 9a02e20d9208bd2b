#pragma once

#include "kernels/gpu/host_testable_block.h"

namespace tandem {

/// How a GPU's threads share a tensor [rows, channels] in memory order. A thread has `width` neighbouring channels.
/// `lanes` threads side by side cover a row of a tile. `layers` such rows form a block, which moves down the rows of
/// its chunk. Blocks are numbered tile by tile, then chunk by chunk. Threads beyond lanes * layers are idle, as are
/// threads beyond the last channel.
///
/// The grid depends on the shape only, so the order of sums is fixed.
struct NormGrid {
  static constexpr int64_t lanesAtMost = 32;    // 512 bytes of a row, which are whole lines of memory
  static constexpr int64_t blocksWanted = 512;  // about four per multiprocessor of a large GPU, all resident at once
  static constexpr int64_t rowsPerThread = 4;   // fewer are not worth a block

  int64_t rows, channels;
  int width, lanes, layers;
  int64_t tiles, chunkRows, chunks;

  /// REQUIRES: rows > 0, channels > 0, channels a multiple of `threadWidth`.
  NormGrid(int64_t rowCount, int64_t channelCount, int threadWidth)
      : rows(rowCount), channels(channelCount), width(threadWidth) {
    const int64_t vectors = channels / width;
    tiles = ratioUp(vectors, lanesAtMost);
    lanes = static_cast<int>(ratioUp(vectors, tiles));
    layers = blockThreads / lanes;
    const int64_t blockRows = layers * rowsPerThread;
    const int64_t fewer = ratioUp(rows, blockRows), wanted = ratioUp(blocksWanted, tiles);
    chunkRows = ratioUp(rows, layers * (fewer < wanted ? fewer : wanted)) * layers;
    chunks = ratioUp(rows, chunkRows);
  }

  int64_t blocks() const { return tiles * chunks; }

  TANDEM_THREAD int64_t rowsOf(int64_t chunk) const {
    const int64_t left = rows - chunk * chunkRows;
    return left < chunkRows ? left : chunkRows;
  }

  /// A thread's rows first, first + step, ... below `last`, in channels from `channel` on; none if it is idle.
  struct Share {
    int64_t channel, first, last;
    int step;
  };

  TANDEM_THREAD Share shareOf(int64_t block, int thread) const {
    const int64_t chunk = block / tiles, channel = (block % tiles * lanes + thread % lanes) * width;
    const int layer = thread / lanes;
    const int64_t first = chunk * chunkRows + layer, last = chunk * chunkRows + rowsOf(chunk);
    return {channel, first, layer < layers && channel < channels ? last : first, layers};
  }

 private:
  static int64_t ratioUp(int64_t value, int64_t divisor) { return (value + divisor - 1) / divisor; }
};

}  // namespace tandem
