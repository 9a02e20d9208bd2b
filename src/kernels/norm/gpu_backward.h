#pragma once

#include "kernels/norm/gpu_forward.h"

namespace tandem {

namespace norm_programs {

/// The inputs of backward for a thread's channels in `rows` rows. All loads are issued before any is used.
template <class Block, class T, int width, int rows>
struct GradientPackets {
  Packet<T, width> x[rows], gradients[2][rows] = {};

  TANDEM_THREAD void load(const NormActGradientArguments& a, int r, int64_t place) {
    x[r] = Block::template load<width>(static_cast<const T*>(a.x) + place);
    gradients[0][r] = Block::template load<width>(static_cast<const T*>(a.gradients[0]) + place);
    if (a.gradients[1]) gradients[1][r] = Block::template load<width>(static_cast<const T*>(a.gradients[1]) + place);
  }

  /// The gradient of the output; before the ReLU, if its mask is to be recomputed from x.
  template <bool recompute>
  TANDEM_THREAD float gradient(const NormActGradientArguments& a, int r, int i, float factor, float offset) const {
    float g = Block::widen(gradients[0][r].values[i]);
    if (a.gradients[1]) g += Block::widen(gradients[1][r].values[i]);
    return recompute && normalised(Block::widen(x[r].values[i]), factor, offset) <= 0 ? 0 : g;
  }
};

}  // namespace norm_programs

/// Sums g and g * (x - mean) per channel and chunk, where g is the masked gradient. Writes g to `masked`, unless null.
struct NormSums {
  NormGrid grid;  ///< ofSums()
  NormActGradientArguments a;
  ReluMask mask;    ///< as NormApply wrote it; null: the mask follows from y, or where that is null from x
  float* partials;  ///< [2, chunks, channels]

  static constexpr int widest = norm_programs::widestWithSums;
  template <int width>
  struct Shared : norm_programs::Pairs<width> {};

  int64_t blocks() const { return grid.blocks(); }
  Access access() const { return {a.type, grid.width}; }

  template <class T, int width, class Block>
  TANDEM_THREAD void run(const Block& block, Shared<width>& shared) const {
    using namespace norm_programs;
    block.each([&](int thread) {
      const NormGrid::Share share = grid.shareOf(block.index, thread);
      float sums[width] = {}, products[width] = {};
      withKnown(a.activation == Activation::relu && !mask.bytes && !a.y, [&](auto recompute) {
        if (share.first < share.last) add<T, width, Block, decltype(recompute)::value>(share, sums, products);
      });
      TANDEM_UNROLL
      for (int i = 0; i < width; ++i) shared.first[i][thread] = sums[i], shared.second[i][thread] = products[i];
    });
    foldLayers(block, grid.lanes, grid.layers, [&](int into, int from) {
      for (int i = 0; i < width; ++i) {
        shared.first[i][into] += shared.first[i][from];
        shared.second[i][into] += shared.second[i][from];
      }
    });
    writePartials<Block, width>(block, grid, shared, partials);
  }

 private:
  // The bits of the ReLU's mask that were kept; all of them, if there is no ReLU or its mask is recomputed.
  template <class T, int width, class Block>
  TANDEM_THREAD unsigned keptBits(int64_t place) const {
    if (mask.bytes) return mask.at(place);
    return a.y ? reluBitsOf<Block>(Block::template load<width>(static_cast<const T*>(a.y) + place)) : ~0U;
  }

  template <class T, int width, class Block, bool recompute>
  TANDEM_THREAD void add(const NormGrid::Share& share, float (&sums)[width], float (&products)[width]) const {
    using namespace norm_programs;
    float factor[width], offset[width], mean[width];
    TANDEM_UNROLL
    for (int i = 0; i < width; ++i) {
      factor[i] = a.factor[share.channel + i], offset[i] = a.offset[share.channel + i];
      mean[i] = a.mean[share.channel + i];
    }
    overRows<2>(grid, share, [&](auto together, int64_t place, int64_t stride) {
      constexpr int rows = decltype(together)::count;
      GradientPackets<Block, T, width, rows> packets;
      unsigned bits[rows];
      TANDEM_UNROLL
      for (int r = 0; r < rows; ++r) packets.load(a, r, place + r * stride);
      TANDEM_UNROLL
      for (int r = 0; r < rows; ++r) bits[r] = recompute ? 0 : keptBits<T, width, Block>(place + r * stride);
      TANDEM_UNROLL
      for (int r = 0; r < rows; ++r) {
        Packet<T, width> kept;
        TANDEM_UNROLL
        for (int i = 0; i < width; ++i) {
          float g = packets.template gradient<recompute>(a, r, i, factor[i], offset[i]);
          if (!recompute) g = bits[r] >> i & 1U ? g : 0;
          kept.values[i] = Block::template narrow<T>(g);
          if (a.masked) g = Block::widen(kept.values[i]);  // as rounded, because dx is computed from it
          sums[i] += g;
          products[i] += g * (Block::widen(packets.x[r].values[i]) - mean[i]);
        }
        if (a.masked) Block::store(static_cast<T*>(a.masked) + place + r * stride, kept);
      }
    });
  }
};

/// Computes dx. Reads the masked gradient from `masked`; if that is null, recomputes the ReLU's mask from x.
struct NormGradient {
  NormGrid grid;  ///< ofValues()
  NormActGradientArguments a;

  /// What `masked` holds is already masked, summed and rounded.
  NormGradient(const NormGrid& theGrid, const NormActGradientArguments& arguments) : grid(theGrid), a(arguments) {
    if (!a.masked) return;
    a.gradients[0] = a.masked;
    a.gradients[1] = nullptr;
    a.activation = Activation::none;
  }

  static constexpr int widest = norm_programs::widestWithSums;
  template <int width>
  struct Shared {};

  int64_t blocks() const { return grid.blocks(); }
  Access access() const { return {a.type, grid.width}; }

  template <class T, int width, class Block>
  TANDEM_THREAD void run(const Block& block, Shared<width>&) const {
    using namespace norm_programs;
    overShares(block, grid, [&](const NormGrid::Share& share) {
      withKnown(a.activation == Activation::relu,
                [&](auto recompute) { differentiate<T, width, Block, decltype(recompute)::value>(share); });
    });
  }

 private:
  template <class T, int width, class Block, bool recompute>
  TANDEM_THREAD void differentiate(const NormGrid::Share& share) const {
    using namespace norm_programs;
    float factor[width], offset[width], mean[width], bias[width], slope[width];
    TANDEM_UNROLL
    for (int i = 0; i < width; ++i) {
      factor[i] = a.factor[share.channel + i], offset[i] = a.offset[share.channel + i];
      mean[i] = a.mean[share.channel + i];
      bias[i] = a.bias[share.channel + i], slope[i] = a.slope[share.channel + i];
    }
    overRows<2>(grid, share, [&](auto together, int64_t place, int64_t stride) {
      constexpr int rows = decltype(together)::count;
      GradientPackets<Block, T, width, rows> packets;
      TANDEM_UNROLL
      for (int r = 0; r < rows; ++r) packets.load(a, r, place + r * stride);
      TANDEM_UNROLL
      for (int r = 0; r < rows; ++r) {
        Packet<T, width> dx;
        TANDEM_UNROLL
        for (int i = 0; i < width; ++i) {
          const float g = packets.template gradient<recompute>(a, r, i, factor[i], offset[i]);
          const float centred = Block::widen(packets.x[r].values[i]) - mean[i];
          dx.values[i] = Block::template narrow<T>((g - bias[i]) * factor[i] + centred * slope[i]);
        }
        Block::store(static_cast<T*>(a.dx) + place + r * stride, dx);
      }
    });
  }
};

}  // namespace tandem
