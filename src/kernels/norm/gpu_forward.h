#pragma once

#include <math.h>

#include <type_traits>

#include "kernels/norm/gpu_grid.h"
#include "kernels/norm/gpu_relu_mask.h"
#include "kernels/norm/norm_act_kernel.h"

namespace tandem {

namespace norm_programs {

/// Values that a thread reads in one access if it keeps several numbers for each of their channels. More would not
/// leave it the registers for the rows of `overRows`.
inline constexpr int widestWithSums = 4;

/// Calls body(std::true_type or std::false_type): code that is compiled for what it does takes fewer registers.
template <class Body>
TANDEM_THREAD void withKnown(bool does, const Body& body) {
  if (does) {
    body(std::true_type{});
  } else {
    body(std::false_type{});
  }
}

/// The number of rows that a thread takes at once, as a type.
template <int rows>
struct Together {
  static constexpr int count = rows;
};

/// Calls body(Together<n>, place, stride) over a thread's rows: n of them at once as long as there are so many. The
/// thread's first value in row r of these is number place + r * stride of the tensor.
template <int rows, class Body>
TANDEM_THREAD void overRows(const NormGrid& grid, const NormGrid::Share& share, const Body& body) {
  const int64_t stride = share.step * grid.channels, end = share.last * grid.channels;
  int64_t place = share.first * grid.channels + share.channel;
  TANDEM_UNROLL_BY(1)
  for (; place + (rows - 1) * stride < end; place += rows * stride) body(Together<rows>{}, place, stride);
  TANDEM_UNROLL_BY(1)
  for (; place < end; place += stride) body(Together<1>{}, place, stride);
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
    float* const to = partials + grid.chunkOf(block.index) * grid.channels + share.channel;
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
  NormGrid grid;  ///< ofSums()
  Element type;
  const void* x;
  float* partials;  ///< [2, chunks, channels]

  static constexpr int widest = norm_programs::widestWithSums;
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
    float seen = 0, mean[width] = {}, squares[width] = {};
    overRows<4>(grid, share, [&](auto together, int64_t place, int64_t stride) {
      constexpr int rows = decltype(together)::count;
      Packet<T, width> packets[rows];
      TANDEM_UNROLL
      for (int r = 0; r < rows; ++r) {
        packets[r] = Block::template load<width>(static_cast<const T*>(x) + place + r * stride);
      }
      TANDEM_UNROLL
      for (int i = 0; i < width; ++i) {
        float sum = 0, deviations = 0;
        TANDEM_UNROLL
        for (int r = 0; r < rows; ++r) sum += Block::widen(packets[r].values[i]);
        const float own = sum * (1.0F / rows);
        TANDEM_UNROLL
        for (int r = 0; r < rows; ++r) {
          const float deviation = Block::widen(packets[r].values[i]) - own;
          deviations += deviation * deviation;
        }
        join(seen, mean[i], squares[i], rows, {own, deviations});
      }
      seen += rows;
    });
    shared.counts[thread] = seen;
    TANDEM_UNROLL
    for (int i = 0; i < width; ++i) shared.first[i][thread] = mean[i], shared.second[i][thread] = squares[i];
  }
};

/// Writes y, and the mask of its ReLU.
struct NormApply {
  NormGrid grid;  ///< ofValues()
  NormActArguments a;
  ReluMask mask;  ///< null: backward recomputes it

  template <int width>
  struct Shared {};

  int64_t blocks() const { return grid.blocks(); }
  Access access() const { return {a.type, grid.width}; }

  template <class T, int width, class Block>
  TANDEM_THREAD void run(const Block& block, Shared<width>&) const {
    using namespace norm_programs;
    overShares(block, grid, [&](const NormGrid::Share& share) {
      withKnown(a.residual != nullptr, [&](auto adds) { apply<T, width, Block, decltype(adds)::value>(share); });
    });
  }

 private:
  template <class T, int width, class Block, bool adds>
  TANDEM_THREAD void apply(const NormGrid::Share& share) const {
    using namespace norm_programs;
    float factor[width], offset[width];
    TANDEM_UNROLL
    for (int i = 0; i < width; ++i) factor[i] = a.factor[share.channel + i], offset[i] = a.offset[share.channel + i];
    overRows<adds ? 2 : 4>(grid, share, [&](auto together, int64_t place, int64_t stride) {
      constexpr int rows = decltype(together)::count;
      Packet<T, width> x[rows], residual[rows] = {};
      TANDEM_UNROLL
      for (int r = 0; r < rows; ++r) {
        x[r] = Block::template load<width>(static_cast<const T*>(a.x) + place + r * stride);
        if (adds) residual[r] = Block::template load<width>(static_cast<const T*>(a.residual) + place + r * stride);
      }
      TANDEM_UNROLL
      for (int r = 0; r < rows; ++r) {
        TANDEM_UNROLL
        for (int i = 0; i < width; ++i) {
          float value = normalised(Block::widen(x[r].values[i]), factor[i], offset[i]);
          if (adds) value += Block::widen(residual[r].values[i]);
          if (a.activation == Activation::relu) value = value < 0 ? 0 : value;  // NaN stays NaN
          x[r].values[i] = Block::template narrow<T>(value);
        }
        Block::store(static_cast<T*>(a.y) + place + r * stride, x[r]);
        if (adds && mask.bytes) mask.set(place + r * stride, reluBitsOf<Block>(x[r]));
      }
    });
  }
};

}  // namespace tandem
