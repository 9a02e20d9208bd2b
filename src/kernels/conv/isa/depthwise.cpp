#include "kernels/conv/depthwise.h"

#include "kernels/simd/vector.h"

namespace tandem::depthwise {
namespace {

/// Columns of the result that are computed at once, in registers. Images of most networks are 7, 14, 28 ... wide.
constexpr int tile = 7;

/// Calls use<i>() for each i below `count`: a loop that is unrolled for certain, so that arrays live in registers.
template <int count, class Use>
TANDEM_INLINE void unrolled(const Use& use) {
  if constexpr (count > 0) {
    unrolled<count - 1>(use);
    use.template operator()<count - 1>();
  }
}

/// Which tap of a row joins column `t` of a tile with the `j`-th column that the tile reads.
template <int width, int stride>
struct Forward {
  static constexpr int columns = tile;  ///< of a tile
  static constexpr int reads = (columns - 1) * stride + width;
  static constexpr int tap(int t, int j) { return j - t * stride; }
  /// The first column that the tile reads which begins at `column`.
  static TANDEM_INLINE int64_t begin(const Window& w, int64_t column) { return column * stride - w.left; }
  /// The first column of the first tile.
  static TANDEM_INLINE int64_t first(const Window&) { return 0; }
};

/// From an output's gradient to the input's. Tiles begin where tap width - 1 meets a column of the gradient: every tile
/// has the same taps then. The first one may begin a column before the image.
template <int width, int stride>
struct Backward {
  static constexpr int columns = (tile + stride - 1) / stride * stride;
  static constexpr int reads = (columns + width - 2) / stride + 1;
  static constexpr int tap(int t, int j) { return t + width - 1 - stride * j; }
  static TANDEM_INLINE int64_t begin(const Window& w, int64_t column) {
    return (column + w.left - (width - 1)) / stride;
  }
  static TANDEM_INLINE int64_t first(const Window& w) { return -(w.left % stride); }
};

/// Consecutive columns, of which [first, last) lie within the image.
struct Columns {
  int64_t first, last;
  static TANDEM_INLINE Columns within(int64_t begin, int count, int64_t width) {
    return {begin < 0 ? -begin : 0, begin + count > width ? width - begin : count};
  }
  TANDEM_INLINE bool areAll(int count) const { return first == 0 && last == count; }
  TANDEM_INLINE bool has(int column) const { return column >= first && column < last; }
};

/// Adds the products of one row of the image with one row of the filter. `image`: the first column that is read.
template <class Taps, int width, bool whole, class Value>
TANDEM_INLINE void addRow(const Value* image, int64_t pixel, const float* filter, const Columns& read,
                          Floats (&sum)[Taps::columns]) {
  Floats weight[width];
  unrolled<width>([&]<int w>() TANDEM_INLINE_LAMBDA { weight[w] = load<Floats>(filter + w * lanes); });
  unrolled<Taps::reads>([&]<int j>() TANDEM_INLINE_LAMBDA {
    if (!whole && !read.has(j)) return;
    const auto value = load<Floats>(image + j * pixel);
    unrolled<Taps::columns>([&]<int t>() TANDEM_INLINE_LAMBDA {
      constexpr int tap = Taps::tap(t, j);
      if constexpr (tap >= 0 && tap < width) sum[t] += weight[tap] * value;
    });
  });
}

/// Rows of the image that meet rows of the filter: row `row` + i * `step` of the image meets row `tap` + i * `tapStep`.
struct Rows {
  int64_t count, row, step, tap, tapStep;
};

TANDEM_INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
TANDEM_INLINE int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/// For a row of y. `height`: of x.
TANDEM_INLINE Rows rowsForward(const Window& w, int64_t row, int64_t height) {
  const int64_t top = row * w.stride - w.top, first = most(0, -top), last = least(w.height, height - top);
  return {most(0, last - first), top + first, 1, first, 1};
}

/// For a row of dx. `height`: of dy. Every stride-th tap meets a row of dy.
TANDEM_INLINE Rows rowsBackward(const Window& w, int64_t row, int64_t height) {
  const int64_t place = row + w.top;
  int64_t tap = place % w.stride, from = place / w.stride;
  const int64_t skipped = most(0, from - (height - 1));
  tap += skipped * w.stride, from -= skipped;
  const int64_t count = tap < w.height ? least(from, (w.height - 1 - tap) / w.stride) + 1 : 0;
  return {most(0, count), from, -1, tap, w.stride};
}

/// A line of the result: a row of the vectors of channels that lie side by side.
template <class Value>
struct Line {
  const Value* from;  ///< the image's first row
  Value* to;
  const float *filters, *bias;
  int64_t vectors, row;
};

/// Calls compute(line) for each line.
template <class Value, class Compute>
TANDEM_INLINE void eachLine(const Pass& p, int64_t first, int64_t last, const Compute& compute) {
  const int64_t vectors = vectorsOfLine(p.toOrder, lanes), parts = p.toOrder.channels / lanes / vectors;
  for (int64_t i = first; i < last; ++i) {
    const int64_t row = i % p.toOrder.height, part = i / p.toOrder.height % parts;
    const int64_t image = i / p.toOrder.height / parts, vector = part * vectors;
    const Value* const from = static_cast<const Value*>(p.from) + image * p.fromOrder.image;
    Value* const to = static_cast<Value*>(p.to) + image * p.toOrder.image + row * p.toOrder.row;
    compute(Line<Value>{from + vector * p.fromOrder.block, to + vector * p.toOrder.block,
                        p.filters + vector * p.window.taps() * lanes, p.bias ? p.bias + vector * lanes : nullptr,
                        vectors, row});
  }
}

/// A tile of a line. Channels are the outer loop: where they lie side by side, reads run along memory.
template <class Taps, int width, bool whole, class Value>
TANDEM_INLINE void computeTile(const Pass& p, const Line<Value>& line, const Rows& rows, int64_t column,
                               const Columns& read, const Columns& written) {
  const Value* from = line.from + rows.row * p.fromOrder.row + Taps::begin(p.window, column) * p.fromOrder.pixel;
  Value* to = line.to + column * p.toOrder.pixel;
  const float* filter = line.filters + rows.tap * width * lanes;
  for (int64_t v = 0; v < line.vectors; ++v) {
    Floats sum[Taps::columns];
    const Floats start = line.bias ? load<Floats>(line.bias + v * lanes) : Floats{};
    unrolled<Taps::columns>([&]<int t>() TANDEM_INLINE_LAMBDA { sum[t] = start; });
    for (int64_t i = 0; i < rows.count; ++i) {
      addRow<Taps, width, whole>(from + i * rows.step * p.fromOrder.row, p.fromOrder.pixel,
                                 filter + i * rows.tapStep * width * lanes, read, sum);
    }
    unrolled<Taps::columns>([&]<int t>() TANDEM_INLINE_LAMBDA {
      if (whole || written.has(t)) store(to + t * p.toOrder.pixel, sum[t]);
    });
    from += p.fromOrder.block, to += p.toOrder.block, filter += p.window.taps() * lanes;
  }
}

template <class Taps, int width, class Value>
TANDEM_INLINE void computeLine(const Pass& p, const Line<Value>& line, const Rows& rows) {
  for (int64_t column = Taps::first(p.window); column < p.toOrder.width; column += Taps::columns) {
    const auto read = Columns::within(Taps::begin(p.window, column), Taps::reads, p.fromOrder.width);
    const auto written = Columns::within(column, Taps::columns, p.toOrder.width);
    if (read.areAll(Taps::reads) && written.areAll(Taps::columns)) {
      computeTile<Taps, width, true>(p, line, rows, column, read, written);
    } else {
      computeTile<Taps, width, false>(p, line, rows, column, read, written);
    }
  }
}

/// Calls use<width>() with the filter's width.
template <class Use>
TANDEM_INLINE void withWidth(const Window& window, const Use& use) {
  if (window.width == 3) return use.template operator()<3>();
  if (window.width == 5) return use.template operator()<5>();
  use.template operator()<7>();
}

template <class Value>
void forwardOf(const Pass& p, int64_t first, int64_t last) {
  withWidth(p.window, [&]<int width>() TANDEM_INLINE_LAMBDA {
    eachLine<Value>(p, first, last, [&](const Line<Value>& line) TANDEM_INLINE_LAMBDA {
      const Rows rows = rowsForward(p.window, line.row, p.fromOrder.height);
      if (p.window.stride == 1) return computeLine<Forward<width, 1>, width>(p, line, rows);
      computeLine<Forward<width, 2>, width>(p, line, rows);
    });
  });
}

template <class Value>
void backwardStridedOf(const Pass& p, int64_t first, int64_t last) {
  withWidth(p.window, [&]<int width>() TANDEM_INLINE_LAMBDA {
    eachLine<Value>(p, first, last, [&](const Line<Value>& line) TANDEM_INLINE_LAMBDA {
      computeLine<Backward<width, 2>, width>(p, line, rowsBackward(p.window, line.row, p.fromOrder.height));
    });
  });
}

/// Adds to the sums of a vector of channels what a tile of dy gives: those of the taps, then that of the bias.
template <int width, int stride, bool whole, class Value>
TANDEM_INLINE void addGradients(const FilterGradient& g, const Value* x, const Value* dy, const Rows& rows,
                                const Columns& read, const Columns& own, float* sums) {
  using Taps = Forward<width, stride>;
  Floats gradient[tile], bias = load<Floats>(sums + g.window.taps() * lanes);
  unrolled<tile>([&]<int t>() TANDEM_INLINE_LAMBDA {
    gradient[t] = whole || own.has(t) ? load<Floats>(dy + t * g.dyOrder.pixel) : Floats{};
    bias += gradient[t];
  });
  store(sums + g.window.taps() * lanes, bias);
  for (int64_t i = 0; i < rows.count; ++i) {
    const Value* const image = x + i * g.xOrder.row;
    float* const row = sums + (rows.tap + i) * width * lanes;
    Floats sum[width];
    unrolled<width>([&]<int w>() TANDEM_INLINE_LAMBDA { sum[w] = load<Floats>(row + w * lanes); });
    unrolled<Taps::reads>([&]<int j>() TANDEM_INLINE_LAMBDA {
      if (!whole && !read.has(j)) return;
      const auto value = load<Floats>(image + j * g.xOrder.pixel);
      unrolled<tile>([&]<int t>() TANDEM_INLINE_LAMBDA {
        constexpr int tap = Taps::tap(t, j);
        if constexpr (tap >= 0 && tap < width) sum[tap] += gradient[t] * value;
      });
    });
    unrolled<width>([&]<int w>() TANDEM_INLINE_LAMBDA { store(row + w * lanes, sum[w]); });
  }
}

/// Sums that stay in the first-level cache together.
constexpr int64_t sumBytes = 16384;

/// Adds what row `row` of an image of dy gives to the sums of vectors [first, last) of channels.
template <int width, int stride, class Value>
TANDEM_INLINE void addLine(const FilterGradient& g, int64_t image, int64_t row, int64_t first, int64_t last,
                           float* sums) {
  using Taps = Forward<width, stride>;
  const ImageOrder &xo = g.xOrder, &dyo = g.dyOrder;
  const Rows rows = rowsForward(g.window, row, xo.height);
  for (int64_t column = 0; column < dyo.width; column += tile) {
    const int64_t begin = Taps::begin(g.window, column);
    const auto own = Columns::within(column, tile, dyo.width);
    auto read = Columns::within(begin, Taps::reads, xo.width);
    read.last = least(read.last, (own.last - 1) * stride + width);  // what no window meets may be infinite
    const bool whole = read.areAll(Taps::reads) && own.areAll(tile);
    const Value* const x = static_cast<const Value*>(g.x) + image * xo.image + rows.row * xo.row + begin * xo.pixel;
    const Value* const dy = static_cast<const Value*>(g.dy) + image * dyo.image + row * dyo.row + column * dyo.pixel;
    for (int64_t v = first; v < last; ++v) {
      float* const to = sums + (v - first) * (g.window.taps() + 1) * lanes;
      if (whole) {
        addGradients<width, stride, true>(g, x + v * xo.block, dy + v * dyo.block, rows, read, own, to);
      } else {
        addGradients<width, stride, false>(g, x + v * xo.block, dy + v * dyo.block, rows, read, own, to);
      }
    }
  }
}

/// A sum of few rows is taken first, then those are added: a sum of so many values would lose digits.
template <int width, int stride, class Value>
TANDEM_INLINE void addSums(const FilterGradient& g, int64_t first, int64_t last) {
  constexpr int64_t rowsAtOnce = 8;
  const int64_t size = (g.window.taps() + 1) * lanes, count = (last - first) * size;
  alignas(64) float sums[sumBytes / sizeof(float)];
  for (int64_t i = 0; i < count; ++i) sums[i] = 0;
  for (int64_t image = 0; image < g.dyOrder.images; ++image) {
    for (int64_t row = 0; row < g.dyOrder.height; ++row) {
      addLine<width, stride, Value>(g, image, row, first, last, sums);
      if ((row + 1) % rowsAtOnce != 0 && row + 1 < g.dyOrder.height) continue;
      for (int64_t i = 0; i < count; ++i) g.sums[first * size + i] += sums[i], sums[i] = 0;
    }
  }
}

template <class Value>
void gradientsOf(const FilterGradient& g, int64_t first, int64_t last) {
  const int64_t fitting = sumBytes / ((g.window.taps() + 1) * lanes * static_cast<int64_t>(sizeof(float)));
  const int64_t atOnce = least(vectorsOfLine(g.xOrder, lanes), most(1, fitting));
  withWidth(g.window, [&]<int width>() TANDEM_INLINE_LAMBDA {
    for (int64_t v = first; v < last; v += atOnce) {
      const int64_t end = least(v + atOnce, last);
      g.window.stride == 1 ? addSums<width, 1, Value>(g, v, end) : addSums<width, 2, Value>(g, v, end);
    }
  });
}

void forward(const Pass& pass, int64_t first, int64_t last) {
  pass.type == Element::fp32 ? forwardOf<float>(pass, first, last) : forwardOf<Bf16>(pass, first, last);
}

void backwardStrided(const Pass& pass, int64_t first, int64_t last) {
  pass.type == Element::fp32 ? backwardStridedOf<float>(pass, first, last) : backwardStridedOf<Bf16>(pass, first, last);
}

void gradients(const FilterGradient& gradient, int64_t first, int64_t last) {
  gradient.type == Element::fp32 ? gradientsOf<float>(gradient, first, last) : gradientsOf<Bf16>(gradient, first, last);
}

}  // namespace

template <>
Kernels Kernels::with<Isa::TANDEM_ISA>() {
  return {depthwise::forward, depthwise::backwardStrided, depthwise::gradients};
}

}  // namespace tandem::depthwise
