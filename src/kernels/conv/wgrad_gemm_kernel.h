#pragma once

#include <type_traits>

#include "kernels/conv/wgrad_gemm.h"
#include "kernels/simd/gemm_microkernel.h"

/// Shared by the sources of wgrad_gemm.h. A `Step` is one of gemm_microkernel.h plus its packing. It has Value, the
/// type of x and dy; places, the number that a word holds; pack(), which writes `lanes` words.
namespace tandem::packed {

/// Calls use() with `lanes` channels, of which the first `count` are those of `from`. The rest are zero; all are zero
/// if `from` is null.
template <class Value, class Use>
TANDEM_INLINE auto whole(const Value* from, int64_t count, const Use& use) {
  Value some[lanes]{};
  if (from && count >= lanes) return use(from);
  for (int64_t c = 0; from && c < count; ++c) some[c] = from[c];
  return use(static_cast<const Value*>(some));
}

/// The pixel that each place of the output meets in a tensor through one tap.
template <class Value>
struct View {
  const Value* data;
  ImageOrder order;
  int64_t strideH, strideW, offsetH, offsetW;

  /// The address of the pixel for output pixel (h, w), plus `from` values; null outside the image.
  TANDEM_INLINE const Value* at(int64_t image, int64_t h, int64_t w, int64_t from) const {
    const int64_t y = h * strideH + offsetH, x = w * strideW + offsetW;
    const bool inside = y >= 0 && y < order.height && x >= 0 && x < order.width;
    return inside ? data + image * order.image + y * order.row + x * order.pixel + from : nullptr;
  }
};

/// The order of packed channels: panels of whole vectors; within a panel step after step.
struct Panels {
  int64_t channels, panel, steps;

  /// The width of the panel that begins at `channel`.
  TANDEM_INLINE int64_t widthFrom(int64_t channel) const {
    const int64_t left = (channels - channel + lanes - 1) / lanes * lanes;
    return left < panel ? left : panel;
  }
};

struct Places {
  const ImageOrder& image;
  int64_t first, last;
};

/// Packs one step, starting with the first channel of each pixel; a null pixel is zero.
template <class Step>
TANDEM_INLINE void packStep(const typename Step::Value* (&pixels)[Step::places], int64_t block, int64_t step,
                            const Panels& panels, typename Step::Word* to) {
  for (int64_t first = 0; first < panels.channels; first += panels.panel) {
    const int64_t width = panels.widthFrom(first), end = first + width;
    typename Step::Word* target = to + first * panels.steps + step * width;
    for (int64_t c = first; c < end; c += lanes, target += lanes) {
      Step::pack(pixels, panels.channels - c, target);
      for (int i = 0; i < Step::places; ++i) {
        if (pixels[i]) pixels[i] += block;
      }
    }
  }
}

/// Packs channels from `channel` on. REQUIRES: `channel` begins a block.
template <class Step>
// Image, row and column are advanced step by step, which saves divisions for each place.
TANDEM_INLINE void packSide(const View<typename Step::Value>& view, int64_t channel, const Places& places,
                            const Panels& panels, typename Step::Word* to) {
  int64_t image = places.first / (places.image.height * places.image.width);
  int64_t h = places.first / places.image.width % places.image.height, w = places.first % places.image.width;
  int64_t place = places.first;
  const int64_t begin = channel / lanes * view.order.block;
  for (int64_t step = 0; step < panels.steps; ++step) {
    const typename Step::Value* pixels[Step::places];
    for (int i = 0; i < Step::places; ++i) {
      pixels[i] = place++ < places.last ? view.at(image, h, w, begin) : nullptr;
      if (++w == places.image.width) {
        w = 0;
        if (++h == places.image.height) h = 0, ++image;
      }
    }
    packStep<Step>(pixels, view.order.block, step, panels, to);
  }
}

/// The memory of the next places, handed out in cache lines for prefetching. It is a hint only and need not be exact.
class Ahead {
  // The hardware prefetcher does not see that the next places follow: other taps and panels are read in between.
 public:
  static constexpr int64_t line = 64;

  template <class Value>
  TANDEM_INLINE void expect(const View<Value>& view, const Places& places) {
    if (places.first >= places.last) return;
    const int64_t perImage = places.image.height * places.image.width, inImage = places.first % perImage;
    const ImageOrder& o = view.order;
    const bool plain = o.block == lanes;
    const int64_t pixels = (places.last - places.first) * view.strideH * view.strideW;
    const int64_t at = places.first / perImage * o.image + inImage / places.image.width * view.strideH * o.row +
                       inImage % places.image.width * view.strideW * o.pixel;
    stretches_[count_++] = {reinterpret_cast<const char*>(view.data + at),
                            o.block * static_cast<int64_t>(sizeof(Value)), plain ? 1 : o.channels / lanes,
                            (pixels * o.pixel * static_cast<int64_t>(sizeof(Value)) + line - 1) / line};
  }

  /// The address of the next `lines` lines; null if all are handed out.
  TANDEM_INLINE const char* take(int64_t lines) {
    if (next_ == count_) return nullptr;
    const Stretch& s = stretches_[next_];
    const char* const from = s.data + block_ * s.block + line_ * line;
    line_ += lines;
    if (line_ >= s.lines) {
      line_ = 0;
      if (++block_ == s.blocks) block_ = 0, ++next_;
    }
    return from;
  }

 private:
  struct Stretch {
    const char* data;
    int64_t block, blocks, lines;  // bytes from block to block; lines of a block
  };
  Stretch stretches_[2] = {};
  int count_ = 0, next_ = 0;
  int64_t block_ = 0, line_ = 0;
};

/// Both packed sides of some places.
template <class Step>
struct Sides {
  const typename Step::Word *rows, *columns;
  Panels rowPanels, columnPanels;
  int64_t firstRow;
};

/// Addresses of rows of the sums, and the distance between the vectors of a row.
template <int rows>
struct Block {
  float* to[rows];
  int64_t toVector;
};

/// As multiplyBlock(), if the last vector is not whole: the block is computed in a copy, of which the valid columns are
/// written back.
template <class Step, int rows, int vectors>
TANDEM_INLINE void multiplyPart(const Strided<typename Step::Word>& a, const Steps<Step>& steps,
                                const Block<rows>& block, int64_t columns, bool add) {
  float tile[rows][vectors * lanes];
  float* own[rows];
  const auto over = [&](const auto& use) TANDEM_INLINE_LAMBDA {
    for (int i = 0; i < rows; ++i) {
      for (int64_t c = 0; c < columns; ++c) use(tile[i][c], block.to[i][c / lanes * block.toVector + c % lanes]);
    }
  };
  for (int i = 0; i < rows; ++i) own[i] = tile[i];
  over([](float& mine, float theirs) TANDEM_INLINE_LAMBDA { mine = theirs; });
  multiplyBlock<Step, rows, vectors>(a, steps, own, lanes, add);
  over([](float mine, float& theirs) TANDEM_INLINE_LAMBDA { theirs = mine; });
}

/// Adds the products of both sides through one tap.
template <class Step>
TANDEM_INLINE void multiplySides(const WeightGradient& g, const Sides<Step>& sides, float* sum, bool add,
                                 Ahead& ahead) {
  const WeightOrder& o = g.order;
  const int64_t rowBlock = g.vectorsOfOutputs ? o.inputBlock : o.outputBlock;
  const int64_t row = g.vectorsOfOutputs ? o.input : o.output;
  const int64_t toVector = g.vectorsOfOutputs ? o.outputBlock : o.inputBlock;
  const Panels& columns = sides.columnPanels;
  for (int64_t c = 0; c < columns.channels; c += columns.panel) {
    const int64_t here = columns.channels - c < columns.panel ? columns.channels - c : columns.panel;
    withVectors((here + lanes - 1) / lanes, [&]<int vectors>() TANDEM_INLINE_LAMBDA {
      const auto block = [&]<int rows>(int64_t i, auto isWhole) TANDEM_INLINE_LAMBDA {
        const char* const next = ahead.take(columns.steps);
        const Strided<typename Step::Word> a{sides.rows + i, 1, sides.rowPanels.panel};
        const Steps<Step> steps{sides.columns + c * columns.steps, columns.steps,
                                next ? next : static_cast<const void*>(sides.rows), next ? Ahead::line : 0};
        Block<rows> sums{{}, toVector};
        for (int r = 0; r < rows; ++r) {
          const int64_t at = sides.firstRow + i + r;
          sums.to[r] = sum + at / lanes * rowBlock + at % lanes * row + c / lanes * toVector;
        }
        if constexpr (isWhole()) {
          multiplyBlock<Step, rows, vectors>(a, steps, sums.to, toVector, add);
        } else {
          multiplyPart<Step, rows, vectors>(a, steps, sums, here, add);
        }
      };
      if (here % lanes == 0) {
        inGroups<rowsBeside(vectors)>(0, sides.rowPanels.channels, [&]<int rows>(int64_t i) TANDEM_INLINE_LAMBDA {
          block.template operator()<rows>(i, std::true_type());
        });
      } else {  // rare, so few sizes are instantiated
        inGroups<2>(0, sides.rowPanels.channels, [&]<int rows>(int64_t i) TANDEM_INLINE_LAMBDA {
          block.template operator()<rows>(i, std::false_type());
        });
      }
    });
  }
}

// The places are the outer loop: dy is packed once for all taps, and x once per tap, both while they are in the cache.
// The sums of all taps are updated in memory for each part of the places.
template <class Step>
TANDEM_INLINE void sums(const WeightGradient& g, int64_t firstRow, int64_t lastRow, void* scratch) {
  using Value = typename Step::Value;
  using Word = typename Step::Word;
  const ImageOrder& image = g.dyOrder;
  const int64_t count = image.images * image.height * image.width, atOnce = g.stepsAtOnce * Step::places;
  const View<Value> dy{static_cast<const Value*>(g.dy), g.dyOrder, 1, 1, 0, 0};
  View<Value> x{static_cast<const Value*>(g.x), g.xOrder, g.strideH, g.strideW, 0, 0};
  for (int64_t place = 0; place < count; place += atOnce) {
    const Places places{image, place, place + atOnce < count ? place + atOnce : count};
    const int64_t steps = (places.last - place + Step::places - 1) / Step::places;
    const Panels rows{lastRow - firstRow, (lastRow - firstRow + lanes - 1) / lanes * lanes, steps};
    const Panels columns{g.columns(), mostVectors * lanes, steps};
    Word* const rowWords = static_cast<Word*>(scratch);
    Word* const columnWords = rowWords + rows.panel * g.stepsAtOnce;
    const auto packed = [&](const View<Value>& view, bool asColumns) TANDEM_INLINE_LAMBDA {
      asColumns ? packSide<Step>(view, 0, places, columns, columnWords)
                : packSide<Step>(view, firstRow, places, rows, rowWords);
    };
    packed(dy, g.vectorsOfOutputs);
    Ahead ahead;
    const Places next{image, places.last, places.last + atOnce < count ? places.last + atOnce : count};
    ahead.expect(dy, next);
    x.offsetH = x.offsetW = 0;
    ahead.expect(x, next);
    for (int64_t h = 0; h < g.kernelH; ++h) {
      for (int64_t w = 0; w < g.kernelW; ++w) {
        x.offsetH = h - g.top, x.offsetW = w - g.left;
        packed(x, !g.vectorsOfOutputs);
        multiplySides<Step>(g, {rowWords, columnWords, rows, columns, firstRow},
                            g.sum + h * g.order.row + w * g.order.pixel, place > 0, ahead);
      }
    }
  }
}

}  // namespace tandem::packed
