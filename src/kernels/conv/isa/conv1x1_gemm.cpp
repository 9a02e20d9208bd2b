#include "kernels/conv/conv1x1_gemm.h"

#include "kernels/simd/gemm_microkernel.h"

namespace tandem::pointwise {
namespace {

constexpr int64_t mostPlaces = 512;
constexpr int64_t panelColumns = mostVectors * lanes;

/// The panel of a column: its first column and its width.
struct Panel {
  int64_t first, width;
};

TANDEM_INLINE Panel panelOf(int64_t column, int64_t columns) {
  const int64_t first = column / panelColumns * panelColumns, left = columns - first;
  return {first, left < panelColumns ? left : panelColumns};
}

/// Packs a vector of columns in blocks of `lanes` x `lanes`, so that reads stay within lines that are in the cache.
void pack(const Weights& weights, int64_t first, int64_t last, float* to) {
  const auto& [values, o, turned] = weights;
  const int64_t depth = turned ? o.outputs : o.inputs, columns = turned ? o.inputs : o.outputs;
  const int64_t stepBlock = turned ? o.outputBlock : o.inputBlock, step = turned ? o.output : o.input;
  const int64_t columnBlock = turned ? o.inputBlock : o.outputBlock, column = turned ? o.input : o.output;
  for (int64_t vector = first; vector < last; ++vector) {
    const Panel panel = panelOf(vector * lanes, columns);
    float* const target = to + panel.first * depth + (vector * lanes - panel.first);
    for (int64_t k = 0; k < depth; k += lanes) {
      const float* const from = values + vector * columnBlock + k / lanes * stepBlock;
      for (int i = 0; i < lanes; ++i) {
        for (int j = 0; j < lanes; ++j) target[(k + i) * panel.width + j] = from[i * step + j * column];
      }
    }
  }
}

/// Writes the offsets of `count` places from `first` on.
TANDEM_INLINE void offsets(const Product& p, const Pixels& pixels, int64_t first, int64_t count, int64_t* to) {
  const ImageOrder& o = pixels.order;
  int64_t image = first / (p.high * p.wide), h = first / p.wide % p.high, w = first % p.wide;
  for (int64_t i = 0; i < count; ++i) {
    to[i] = image * o.image + h * pixels.strideH * o.row + w * pixels.strideW * o.pixel;
    if (++w == p.wide) {
      w = 0;
      if (++h == p.high) h = 0, ++image;
    }
  }
}

/// Multiplies some rows by a panel. Channels come in runs that are contiguous in memory: all of them, or one block. The
/// prefetch fetches the rows of the next group.
template <int rows, int vectors>
TANDEM_INLINE void multiplyRows(const Product& p, const int64_t* from, const int64_t* to, const float* panel,
                                float* y) {
  const ImageOrder& o = p.from.order;
  const int64_t stretch = o.block == lanes ? o.channels : lanes;
  const float* x[rows];
  for (int i = 0; i < rows; ++i) x[i] = p.x + from[i];
  Floats sum[rows][vectors]{};
  for (int64_t k = 0; k < o.channels; k += stretch) {
    const int64_t at = k / lanes * o.block;
    const auto value = [&](int i, int64_t step) TANDEM_INLINE_LAMBDA { return x[i][at + step]; };
    const Steps<Fp32Step> steps{panel + k * vectors * lanes, stretch, x[rows - 1] + at + o.pixel,
                                rows * static_cast<int64_t>(sizeof(float))};
    addProducts<Fp32Step, rows, vectors>(value, steps, sum);
  }
  for (int i = 0; i < rows; ++i) {
    for (int v = 0; v < vectors; ++v) store(y + to[i] + v * p.to.order.block, sum[i][v]);
  }
}

// Places are taken in parts whose x stays in the cache, and each part meets all panels. So the packed weights are read
// once per part, from the cache if they fit.
void multiply(const Product& p, int64_t first, int64_t last) {
  const int64_t depth = p.from.order.channels, columns = p.to.order.channels;
  int64_t from[mostPlaces], to[mostPlaces];
  for (int64_t place = first; place < last; place += p.placesAtOnce) {
    const int64_t count = last - place < p.placesAtOnce ? last - place : p.placesAtOnce;
    offsets(p, p.from, place, count, from);
    offsets(p, p.to, place, count, to);
    for (int64_t column = 0; column < columns; column += panelColumns) {
      float* const y = p.y + column / lanes * p.to.order.block;
      withVectors(panelOf(column, columns).width / lanes, [&]<int vectors>() TANDEM_INLINE_LAMBDA {
        inGroups<rowsBeside(vectors)>(0, count, [&]<int rows>(int64_t row) TANDEM_INLINE_LAMBDA {
          multiplyRows<rows, vectors>(p, from + row, to + row, p.weights + column * depth, y);
        });
      });
    }
  }
}

}  // namespace

template <>
Kernels Kernels::with<Isa::TANDEM_ISA>() {
  return {pointwise::mostPlaces, pointwise::pack, pointwise::multiply};
}

}  // namespace tandem::pointwise
