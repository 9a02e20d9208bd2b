#pragma once

#include <math.h>

#include "kernels/norm/gpu_grid.h"
#include "kernels/norm/norm_act_kernel.h"

namespace tandem {

namespace norm_programs {

/// The number of rows that a thread takes at once, as a type.
template <int rows>
struct Together {
  static constexpr int count = rows;
};

/// Calls body(Together<n>, row) over a thread's rows row, row + step, ...: n of them at once as long as there are so
/// many.
template <int rows, class Body>
TANDEM_THREAD void overRows(const NormGrid::Share& share, const Body& body) {
  int64_t row = share.first;
  for (; row + (rows - 1) * share.step < share.last; row += rows * share.step) body(Together<rows>{}, row);
  for (; row < share.last; row += share.step) body(Together<1>{}, row);
}

/// Calls body(share) on each thread of a block that has rows.
template <class Block, class Body>
TANDEM_THREAD void overShares(const Block& block, const NormGrid& grid, const Body& body) {
  block.each([&](int thread) {
    const NormGrid::Share share = grid.shareOf(block.index, thread);
    if (share.first < share.last) body(share);
  });
}

/// Statistics of some values.
struct Moments {        // squares: the sum of squared deviations from the mean
  float mean, squares;  // deviations from the mean, squared and summed
};

/// Joins the moments of `more` values into mean and squares of `seen` values (Chan, Golub, LeVeque 1979).
TANDEM_THREAD void join(float seen, float& mean, float& squares, float more, Moments others) {
  if (more == 0) return;
  const float share = more / (seen + more), distance = others.mean - mean;
  mean += distance * share;
  squares += others.squares + distance * distance * (seen * share);
}

/// One rounding on every processor and in every pass. So a mask that backward recomputes equals forward's to the last
/// bit.
TANDEM_THREAD float normalised(float x, float factor, float offset) { return fmaf(x, factor, offset); }

/// Two fp32 numbers per thread and channel.
template <int width>
struct Pairs {
  float first[width][blockThreads], second[width][blockThreads];
};

/// Writes a block's result, as foldLayers() leaves it, to partials [2, chunks, channels].
template <class Block, int width>
TANDEM_THREAD void writePartials(const Block& block, const NormGrid& grid, const Pairs<width>& pairs, float* partials) {
  block.each([&](int thread) {
    const NormGrid::Share share = grid.shareOf(block.index, thread);
    if (thread >= grid.lanes || share.first == share.last) return;
    float* const to = partials + block.index / grid.tiles * grid.channels + share.channel;
    for (int i = 0; i < width; ++i) {
      to[i] = pairs.first[i][thread];
      to[grid.chunks * grid.channels + i] = pairs.second[i][thread];
    }
  });
}

}  // namespace norm_programs

/// Mean, and sum of squared deviations from it, per channel and chunk. A thread computes the statistics of a few rows
/// in registers, then joins them to the previous ones (as Welford does with single values). Nothing cancels if the mean
/// is far from zero, and a few rows share one division.
struct NormStatistics {
  NormGrid grid;
  Element type;
  const void* x;
  float* partials;  ///< [2, chunks, channels]

  template <int width>
  struct Shared : norm_programs::Pairs<width> {
    float counts[blockThreads];
  };

  int64_t blocks() const { return grid.blocks(); }
  Access access() const { return {type, grid.width}; }

  template <class T, int width, class Block>
  TANDEM_THREAD void run(const Block& block, Shared<width>& shared) const {
    using namespace norm_programs;
    block.each([&](int thread) { statisticsOf<T, width>(block, thread, shared); });
    foldLayers(block, grid.lanes, grid.layers, [&](int into, int from) {
      for (int i = 0; i < width; ++i) {
        join(shared.counts[into], shared.first[i][into], shared.second[i][into], shared.counts[from],
             {shared.first[i][from], shared.second[i][from]});
      }
      shared.counts[into] += shared.counts[from];
    });
    writePartials<Block, width>(block, grid, shared, partials);
  }

 private:
  template <class T, int width, class Block>
  TANDEM_THREAD void statisticsOf(const Block& block, int thread, Shared<width>& shared) const {
    using namespace norm_programs;
    const NormGrid::Share share = grid.shareOf(block.index, thread);
    const T* const from = static_cast<const T*>(x) + share.channel;
    float seen = 0, mean[width] = {}, squares[width] = {};
    overRows<4>(share, [&](auto together, int64_t row) {
      constexpr int rows = decltype(together)::count;
      Packet<T, width> packets[rows];
      for (int r = 0; r < rows; ++r) {
        packets[r] = Block::template load<width>(from + (row + r * share.step) * grid.channels);
      }
      for (int i = 0; i < width; ++i) {
        float sum = 0, deviations = 0;
        for (int r = 0; r < rows; ++r) sum += Block::widen(packets[r].values[i]);
        const float own = sum * (1.0F / rows);
        for (int r = 0; r < rows; ++r) {
          const float deviation = Block::widen(packets[r].values[i]) - own;
          deviations += deviation * deviation;
        }
        join(seen, mean[i], squares[i], rows, {own, deviations});
      }
      seen += rows;
    });
    shared.counts[thread] = seen;
    for (int i = 0; i < width; ++i) shared.first[i][thread] = mean[i], shared.second[i][thread] = squares[i];
  }
};

/// Writes y.
struct NormApply {
  NormGrid grid;
  NormActArguments a;

  template <int width>
  struct Shared {};

  int64_t blocks() const { return grid.blocks(); }
  Access access() const { return {a.type, grid.width}; }

  template <class T, int width, class Block>
  TANDEM_THREAD void run(const Block& block, Shared<width>&) const {
    norm_programs::overShares(block, grid, [&](const NormGrid::Share& share) { apply<T, width, Block>(share); });
  }

 private:
  template <class T, int width, class Block>
  TANDEM_THREAD void apply(const NormGrid::Share& share) const {
    using namespace norm_programs;
    float factor[width], offset[width];
    for (int i = 0; i < width; ++i) factor[i] = a.factor[share.channel + i], offset[i] = a.offset[share.channel + i];
    overRows<4>(share, [&](auto together, int64_t row) {
      constexpr int rows = decltype(together)::count;
      const auto place = [&](int r) { return (row + r * share.step) * grid.channels + share.channel; };
      Packet<T, width> x[rows], residual[rows] = {};
      for (int r = 0; r < rows; ++r) {
        x[r] = Block::template load<width>(static_cast<const T*>(a.x) + place(r));
        if (a.residual) residual[r] = Block::template load<width>(static_cast<const T*>(a.residual) + place(r));
      }
      for (int r = 0; r < rows; ++r) {
        for (int i = 0; i < width; ++i) {
          float value = normalised(Block::widen(x[r].values[i]), factor[i], offset[i]);
          if (a.residual) value += Block::widen(residual[r].values[i]);
          if (a.relu) value = value < 0 ? 0 : value;  // NaN stays NaN
          x[r].values[i] = Block::template narrow<T>(value);
        }
        Block::store(static_cast<T*>(a.y) + place(r), x[r]);
      }
    });
  }
};

}  // namespace tandem
