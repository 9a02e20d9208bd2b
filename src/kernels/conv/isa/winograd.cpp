#include "kernels/conv/winograd_kernel.h"
#include "kernels/simd/gemm_microkernel.h"

namespace tandem::winograd {
namespace {

// The one-dimensional transforms of Lavin and Gray, on a vector of channels per value. The points are 0, 1, -1, 2, -2
// and infinity.

/// The values of a polynomial at 1, -1, 2 and -2. Even and odd terms are shared by a point and its negative, which
/// halves the work.
TANDEM_INLINE void evaluate(const Floats& even1, const Floats& odd1, const Floats& even2, const Floats& odd2,
                            Floats (&t)[reach]) {
  t[1] = even1 + odd1;
  t[2] = even1 - odd1;
  t[3] = even2 + odd2;
  t[4] = even2 - odd2;
}

struct InputPoints {  // B^T
  static constexpr int in = reach, out = reach;
  static TANDEM_INLINE void apply(const Floats (&d)[in], Floats (&t)[out]) {
    const Floats p = d[4] - 4.0F * d[2], q = d[3] - 4.0F * d[1], r = d[4] - d[2], s = 2.0F * (d[3] - d[1]);
    t[0] = 4.0F * d[0] - 5.0F * d[2] + d[4];
    evaluate(p, q, r, s, t);
    t[5] = 4.0F * d[1] - 5.0F * d[3] + d[5];
  }
};

struct WeightPoints {  // G
  static constexpr int in = 3, out = reach;
  static TANDEM_INLINE void apply(const Floats (&w)[in], Floats (&t)[out]) {
    const Floats p = (-1.0F / 6) * (w[0] + w[2]), q = (-1.0F / 6) * w[1];
    const Floats r = (1.0F / 24) * w[0] + (1.0F / 6) * w[2], s = (1.0F / 12) * w[1];
    t[0] = 0.25F * w[0];
    evaluate(p, q, r, s, t);
    t[5] = w[2];
  }
};

struct Results {  // A^T
  static constexpr int in = reach, out = side;
  static TANDEM_INLINE void apply(const Floats (&m)[in], Floats (&y)[out]) {
    const Floats p = m[1] + m[2], q = m[1] - m[2], r = m[3] + m[4], s = m[3] - m[4];
    y[0] = m[0] + p + r;
    y[1] = q + 2.0F * s;
    y[2] = p + 4.0F * r;
    y[3] = q + 8.0F * s + m[5];
  }
};

struct ResultGradientPoints {  // A
  static constexpr int in = side, out = reach;
  static TANDEM_INLINE void apply(const Floats (&y)[in], Floats (&t)[out]) {
    const Floats p = y[0] + y[2], q = y[1] + y[3], r = y[0] + 4.0F * y[2], s = 2.0F * y[1] + 8.0F * y[3];
    t[0] = y[0];
    evaluate(p, q, r, s, t);
    t[5] = y[3];
  }
};

struct WeightGradient {  // G^T
  static constexpr int in = reach, out = 3;
  static TANDEM_INLINE void apply(const Floats (&m)[in], Floats (&g)[out]) {
    const Floats p = (-1.0F / 6) * (m[1] + m[2]), q = m[3] + m[4];
    g[0] = 0.25F * m[0] + p + (1.0F / 24) * q;
    g[1] = (1.0F / 6) * (m[2] - m[1]) + (1.0F / 12) * (m[3] - m[4]);
    g[2] = p + (1.0F / 6) * q + m[5];
  }
};

/// The transform along both directions: first the columns, then the rows of the result.
template <class T>
TANDEM_INLINE void both(const Floats (&d)[T::in][T::in], Floats (&t)[T::out][T::out]) {
  Floats half[T::out][T::in];
  for (int j = 0; j < T::in; ++j) {
    Floats column[T::in], result[T::out];
    for (int i = 0; i < T::in; ++i) column[i] = d[i][j];
    T::apply(column, result);
    for (int i = 0; i < T::out; ++i) half[i][j] = result[i];
  }
  for (int i = 0; i < T::out; ++i) T::apply(half[i], t[i]);
}

/// The position of a tile's first value in its image; negative in the padding.
struct Place {
  int64_t image, h, w;
};

TANDEM_INLINE Place placeOf(const Tiles& tiles, int64_t tile) {
  const int64_t perImage = tiles.across * tiles.down, inImage = tile % perImage;
  return {tile / perImage, tiles.top + side * (inImage / tiles.across), tiles.left + side * (inImage % tiles.across)};
}

TANDEM_INLINE bool inside(int64_t h, int64_t w, const ImageOrder& o) {
  return h >= 0 && h < o.height && w >= 0 && w < o.width;
}

// The address of element (row, column) of a point's matrix, in the panel that holds the column.
TANDEM_INLINE float* at(const Matrices& m, int64_t point, int64_t row, int64_t column) {
  const int64_t panel = column / m.panel, before = panel * m.panel;
  const int64_t width = m.panel < m.columns - before ? m.panel : m.columns - before;
  return m.data + point * m.apart + before * m.rows + row * width + (column - before);
}

// A tile that lies inside the image is loaded without tests; the others read zeros outside. A store goes to 36
// matrices, so the same row and column of all of them are written at once.
template <class T, class Value>
TANDEM_INLINE void toPoints(const Value* x, const ImageOrder& o, const Part& part, const Matrices& to) {
  for (int64_t tile = part.range.first; tile < part.range.last; ++tile) {
    const Place place = placeOf(part.tiles, tile);
    const Value* const first = x + place.image * o.image + place.h * o.row + place.w * o.pixel;
    const bool whole = inside(place.h, place.w, o) && inside(place.h + T::in - 1, place.w + T::in - 1, o);
    for (int64_t c = 0; c < o.channels; c += lanes) {
      const Value* const from = first + c / lanes * o.block;
      Floats d[T::in][T::in], t[T::out][T::out];
      for (int i = 0; i < T::in; ++i) {
        for (int j = 0; j < T::in; ++j) {
          d[i][j] =
              whole || inside(place.h + i, place.w + j, o) ? load<Floats>(from + i * o.row + j * o.pixel) : Floats{};
        }
      }
      both<T>(d, t);
      float* const target = at(to, 0, tile - part.base, c);
      for (int i = 0; i < T::out; ++i) {
        for (int j = 0; j < T::out; ++j) store(target + (i * T::out + j) * to.apart, t[i][j]);
      }
    }
  }
}

constexpr int taps = 3;
using Block = float[taps][taps][lanes][lanes];

/// A lanes x lanes block with its strides in memory.
template <class Value>
struct Lying {
  Value* first;
  int64_t row, column;
  TANDEM_INLINE Value& at(int i, int j) const { return first[i * row + j * column]; }
};

/// Copies between two memories. The inner loop runs along the side with stride 1, whose cache lines are then used
/// whole.
template <class From, class To>
TANDEM_INLINE void copyBlock(const Lying<const From>& from, const Lying<To>& to) {
  const auto copy = [&](int i, int j) TANDEM_INLINE_LAMBDA { to.at(i, j) = fromFloat<To>(toFloat(from.at(i, j))); };
  if (from.row == 1 || to.row == 1) {
    for (int j = 0; j < lanes; ++j) {
      for (int i = 0; i < lanes; ++i) copy(i, j);
    }
  } else {
    for (int i = 0; i < lanes; ++i) {
      for (int j = 0; j < lanes; ++j) copy(i, j);
    }
  }
}

/// Rows of the block are inputs; if `flipped` they are outputs, and taps are turned by 180 degrees, as the gradient of
/// the input needs them.
template <class Value>
TANDEM_INLINE void readBlock(const Value* from, const WeightOrder& o, bool flipped, Block& block) {
  const int64_t row = flipped ? o.output : o.input, column = flipped ? o.input : o.output;
  for (int h = 0; h < taps; ++h) {
    for (int w = 0; w < taps; ++w) {
      auto& to = flipped ? block[taps - 1 - h][taps - 1 - w] : block[h][w];
      copyBlock(Lying<const Value>{from + h * o.row + w * o.pixel, row, column}, Lying<float>{to[0], lanes, 1});
    }
  }
}

template <class Value>
TANDEM_INLINE void writeBlock(const Block& block, const WeightOrder& o, Value* to) {
  for (int h = 0; h < taps; ++h) {
    for (int w = 0; w < taps; ++w) {
      copyBlock(Lying<const float>{block[h][w][0], lanes, 1},
                Lying<Value>{to + h * o.row + w * o.pixel, o.input, o.output});
    }
  }
}

// Reads the tile from the 36 matrices and writes the results that lie inside the image: edge tiles reach beyond it.
template <class Value>
TANDEM_INLINE void toOutput(const Matrices& from, const void* biases, void* y, const ImageOrder& o, const Part& part) {
  const auto* const bias = static_cast<const Value*>(biases);
  for (int64_t tile = part.range.first; tile < part.range.last; ++tile) {
    const Place place = placeOf(part.tiles, tile);
    Value* const first = static_cast<Value*>(y) + place.image * o.image + place.h * o.row + place.w * o.pixel;
    const int64_t high = o.height - place.h < side ? o.height - place.h : side;
    const int64_t wide = o.width - place.w < side ? o.width - place.w : side;
    for (int64_t c = 0; c < o.channels; c += lanes) {
      const float* const source = at(from, 0, tile - part.base, c);
      Floats m[reach][reach], result[side][side];
      for (int i = 0; i < reach; ++i) {
        for (int j = 0; j < reach; ++j) m[i][j] = load<Floats>(source + (i * reach + j) * from.apart);
      }
      both<Results>(m, result);
      const Floats added = bias ? load<Floats>(bias + c) : Floats{};
      Value* const to = first + c / lanes * o.block;
      for (int i = 0; i < high; ++i) {
        for (int j = 0; j < wide; ++j) store(to + i * o.row + j * o.pixel, result[i][j] + added);
      }
    }
  }
}

// Weights lie in any order. So a block of them is first brought into one order, then transformed vector by vector.
template <class Value>
TANDEM_INLINE void ofWeights(const Value* weights, const WeightOrder& o, bool flipped, Range vectors,
                             const Matrices& to) {
  Block block;
  for (int64_t row = vectors.first; row < vectors.last; ++row) {
    for (int64_t column = 0; column < to.columns / lanes; ++column) {
      const int64_t output = flipped ? row : column, input = flipped ? column : row;
      readBlock(weights + output * o.outputBlock + input * o.inputBlock, o, flipped, block);
      for (int r = 0; r < lanes; ++r) {
        Floats w[taps][taps], t[reach][reach];
        for (int i = 0; i < taps; ++i) {
          for (int j = 0; j < taps; ++j) w[i][j] = load<Floats>(block[i][j][r]);
        }
        both<WeightPoints>(w, t);
        float* const target = at(to, 0, row * lanes + r, column * lanes);
        for (int i = 0; i < reach; ++i) {
          for (int j = 0; j < reach; ++j) store(target + (i * reach + j) * to.apart, t[i][j]);
        }
      }
    }
  }
}

template <class Value>
TANDEM_INLINE void toWeightGradient(const Matrices& from, Value* gradient, const WeightOrder& o, Range vectors) {
  Block block;
  for (int64_t row = vectors.first; row < vectors.last; ++row) {
    for (int64_t column = 0; column < from.columns / lanes; ++column) {
      for (int r = 0; r < lanes; ++r) {
        const float* const source = at(from, 0, row * lanes + r, column * lanes);
        Floats m[reach][reach], g[taps][taps];
        for (int i = 0; i < reach; ++i) {
          for (int j = 0; j < reach; ++j) m[i][j] = load<Floats>(source + (i * reach + j) * from.apart);
        }
        both<WeightGradient>(m, g);
        for (int i = 0; i < taps; ++i) {
          for (int j = 0; j < taps; ++j) store(block[i][j][r], g[i][j]);
        }
      }
      writeBlock(block, o, gradient + column * o.outputBlock + row * o.inputBlock);
    }
  }
}

void inputToPoints(const void* x, const Images& images, const Part& part, const Matrices& to) {
  images.type == Element::fp32 ? toPoints<InputPoints>(static_cast<const float*>(x), images.order, part, to)
                               : toPoints<InputPoints>(static_cast<const Bf16*>(x), images.order, part, to);
}

void outputGradientToPoints(const void* dy, const Images& images, const Part& part, const Matrices& to) {
  images.type == Element::fp32 ? toPoints<ResultGradientPoints>(static_cast<const float*>(dy), images.order, part, to)
                               : toPoints<ResultGradientPoints>(static_cast<const Bf16*>(dy), images.order, part, to);
}

void pointsToOutput(const Matrices& from, const void* bias, void* y, const Images& images, const Part& part) {
  images.type == Element::fp32 ? toOutput<float>(from, bias, y, images.order, part)
                               : toOutput<Bf16>(from, bias, y, images.order, part);
}

void weightsToPoints(const void* values, const Weights& weights, bool flipped, Range vectors, const Matrices& to) {
  weights.type == Element::fp32 ? ofWeights(static_cast<const float*>(values), weights.order, flipped, vectors, to)
                                : ofWeights(static_cast<const Bf16*>(values), weights.order, flipped, vectors, to);
}

void pointsToWeightGradient(const Matrices& from, void* gradient, const Weights& weights, Range vectors) {
  weights.type == Element::fp32 ? toWeightGradient(from, static_cast<float*>(gradient), weights.order, vectors)
                                : toWeightGradient(from, static_cast<Bf16*>(gradient), weights.order, vectors);
}

// One matrix product per point. A panel of `b` is as wide as a block of registers and is reused from the cache for all
// rows. `a` is read row by row, or down its columns if it is transposed.
void multiply(const Product& p, int64_t point, int64_t rows) {
  const float* const a = p.a.data + point * p.a.apart;
  const int64_t aRow = p.transposedA ? 1 : p.a.columns, aStep = p.transposedA ? p.a.columns : 1;
  for (int64_t column = 0; column < p.b.columns; column += p.b.panel) {
    const int64_t width = p.b.panel < p.b.columns - column ? p.b.panel : p.b.columns - column;
    const float* const b = at(p.b, point, 0, column);
    float* const to = p.to.data + point * p.to.apart + column;
    withVectors(width / lanes, [&]<int vectors>() TANDEM_INLINE_LAMBDA {
      inGroups<rowsBeside(vectors)>(0, rows, [&]<int group>(int64_t row) TANDEM_INLINE_LAMBDA {
        float* results[group];
        for (int i = 0; i < group; ++i) results[i] = to + (row + i) * p.to.columns;
        const Strided<float> rowsOfA{a + row * aRow, aRow, aStep};
        multiplyBlock<Fp32Step, group, vectors>(rowsOfA, Steps<Fp32Step>{b, p.b.rows, a, 0}, results, lanes, p.add);
      });
    });
  }
}

}  // namespace

template <>
Kernels Kernels::with<Isa::TANDEM_ISA>() {
  return {mostVectors * lanes,      winograd::inputToPoints,   winograd::outputGradientToPoints,
          winograd::pointsToOutput, winograd::weightsToPoints, winograd::pointsToWeightGradient,
          winograd::multiply};
}

}  // namespace tandem::winograd
