#pragma once

#include "kernels/gpu/host_testable_block.h"

namespace tandem {

/// How a GPU's threads share a tensor [rows, channels] in memory order. A thread has `width` neighbouring channels.
/// `lanes` threads side by side cover a row of a tile. `layers` such rows form a block, which moves down the rows of
/// its chunk. Blocks are numbered chunk by chunk, and tile by tile within a chunk. Threads beyond lanes * layers are
/// idle, as are threads beyond the last channel.
///
/// The grid depends on the shape only, so the order of sums is fixed.
struct NormGrid {
  static constexpr int64_t lanesAtMost = 32;     // up to 512 bytes of a row, which are whole lines of memory
  static constexpr int64_t blocksWanted = 1056;  // twice what an H100 holds at once; more would take longer to join
  static constexpr int64_t rowsPerThread = 4;    // or a multiple; fewer are not worth a block
  static constexpr int64_t rowsAtMost = 16;      // of a thread, where a further block costs nothing but its start

  int64_t rows, channels;
  int width, lanes, layers;
  int64_t tiles, chunkRows, chunks;
  bool lastFirst;  ///< whether the first blocks have the last chunks

  /// For sums: about blocksWanted blocks, since somebody has to join their results.
  /// REQUIRES, as for values: rows > 0, channels > 0, channels a multiple of `width`.
  static NormGrid ofSums(int64_t rows, int64_t channels, int width) {
    return NormGrid(rows, channels, width, rows, /*fromTheEnd=*/false);
  }

  /// For values that are computed one by one: as many blocks as are worth it. They come after sums of the same tensors.
  /// What the sums read last may still be in the GPU's cache, so the last chunks come first.
  static NormGrid ofValues(int64_t rows, int64_t channels, int width) {
    return NormGrid(rows, channels, width, rowsAtMost, /*fromTheEnd=*/true);
  }

  int64_t blocks() const { return tiles * chunks; }

  TANDEM_THREAD int64_t chunkOf(int64_t block) const { return lastFirst ? chunks - 1 - block / tiles : block / tiles; }

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
    const int64_t chunk = chunkOf(block), channel = (block % tiles * lanes + thread % lanes) * width;
    const int layer = thread / lanes;
    const int64_t first = chunk * chunkRows + layer, last = chunk * chunkRows + rowsOf(chunk);
    return {channel, first, layer < layers && channel < channels ? last : first, layers};
  }

 private:
  NormGrid(int64_t rowCount, int64_t channelCount, int threadWidth, int64_t threadRowsAtMost, bool fromTheEnd)
      : rows(rowCount), channels(channelCount), width(threadWidth), lastFirst(fromTheEnd) {
    const int64_t vectors = channels / width;
    tiles = ratioUp(vectors, lanesAtMost);
    lanes = static_cast<int>(ratioUp(vectors, tiles));
    layers = blockThreads / lanes;
    const int64_t least = layers * rowsPerThread;
    const int64_t times = ratioUp(rows, least * ratioUp(blocksWanted, tiles));
    const int64_t timesAtMost = ratioUp(threadRowsAtMost, rowsPerThread);
    chunkRows = least * (times < timesAtMost ? times : timesAtMost);
    chunks = ratioUp(rows, chunkRows);
  }

  static int64_t ratioUp(int64_t value, int64_t divisor) { return (value + divisor - 1) / divisor; }
};

}  // namespace tandem
