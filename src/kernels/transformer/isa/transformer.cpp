#include <cmath>

#include "kernels/simd/elementary.h"
#include "kernels/simd/vector.h"
#include "kernels/transformer/transformer_kernel.h"

namespace tandem {
namespace {

TANDEM_INLINE float sumOf(Floats value) {
  float sum = 0;
  for (int lane = 0; lane < lanes; ++lane) sum += value[lane];
  return sum;
}

/// Sums body(V{}, column) over the columns. Several sums run side by side, as an addition takes a few cycles.
template <class Body>
TANDEM_INLINE float sumOverColumns(int64_t columns, const Body& body) {
  constexpr int apart = 4;
  Floats sums[apart]{};
  float rest = 0;
  int64_t column = 0;
  for (; column + apart * lanes <= columns; column += apart * lanes) {
    for (int i = 0; i < apart; ++i) sums[i] += body(Floats{}, column + i * lanes);
  }
  for (; column + lanes <= columns; column += lanes) sums[0] += body(Floats{}, column);
  for (; column < columns; ++column) rest += body(float{}, column);
  return sumOf((sums[0] + sums[1]) + (sums[2] + sums[3])) + rest;
}

template <class T>
TANDEM_INLINE void normaliseRow(const LayerNormArguments& a, int64_t row) {
  const T* const x = static_cast<const T*>(a.x) + row * a.columns;
  T* const y = static_cast<T*>(a.y) + row * a.columns;
  const float share = 1.0F / static_cast<float>(a.columns);
  const float mean = share * sumOverColumns(a.columns, [=](auto kind, int64_t column) TANDEM_INLINE_LAMBDA {
                       return load<decltype(kind)>(x + column);
                     });
  const float variance = share * sumOverColumns(a.columns, [=](auto kind, int64_t column) TANDEM_INLINE_LAMBDA {
                           const auto distance = load<decltype(kind)>(x + column) - mean;
                           return distance * distance;
                         });
  const float factor = 1.0F / std::sqrt(variance + a.epsilon);
  const float *const scale = a.scale, *const shift = a.shift;
  overColumns(a.columns, [=](auto kind, int64_t column) TANDEM_INLINE_LAMBDA {
    using V = decltype(kind);
    const V value = (load<V>(x + column) - mean) * factor;
    store(y + column, value * load<V>(scale + column) + load<V>(shift + column));
  });
  a.mean[row] = mean, a.inverseDeviation[row] = factor;
}

void layerNormOfRows(const LayerNormArguments& a, int64_t first, int64_t last) {
  withElement(a.type, [=](auto kind) TANDEM_INLINE_LAMBDA {
    for (int64_t row = first; row < last; ++row) normaliseRow<decltype(kind)>(a, row);
  });
}

/// With n = (x - mean) * inverse deviation and g = gradient * scale, dx = inverse deviation * (g - mean of g - n * mean
/// of g * n), means over the row. `rows` rows at a time, so that one access to the column sums serves them all.
template <int rows, class T>
TANDEM_INLINE void gradientOfRows(const LayerNormGradientArguments& a, int64_t first, float* scaleSum,
                                  float* shiftSum) {
  const int64_t columns = a.columns;
  const T* const x = static_cast<const T*>(a.x) + first * columns;
  const T* const gradient = static_cast<const T*>(a.gradient) + first * columns;
  T* const dx = static_cast<T*>(a.dx) + first * columns;
  const float* const scale = a.scale;
  float factors[rows], offsets[rows], slopes[rows], means[rows];  // of each row
  for (int row = 0; row < rows; ++row) {
    const float mean = a.mean[first + row], factor = a.inverseDeviation[first + row];
    const float share = factor / static_cast<float>(columns);
    const int64_t at = row * columns;
    const float sum = sumOverColumns(columns, [=](auto kind, int64_t column) TANDEM_INLINE_LAMBDA {
      using V = decltype(kind);
      return load<V>(gradient + at + column) * load<V>(scale + column);
    });
    const float product = sumOverColumns(columns, [=](auto kind, int64_t column) TANDEM_INLINE_LAMBDA {
      using V = decltype(kind);
      return load<V>(gradient + at + column) * load<V>(scale + column) * (load<V>(x + at + column) - mean);
    });
    means[row] = mean, factors[row] = factor;
    offsets[row] = share * sum;
    slopes[row] = share * factor * factor * product;
  }
  overColumns(columns, [&](auto kind, int64_t column) TANDEM_INLINE_LAMBDA {
    using V = decltype(kind);
    const V wide = load<V>(scale + column);
    V ofScale{}, ofShift{};
    for (int row = 0; row < rows; ++row) {
      const int64_t at = row * columns + column;
      const V g = load<V>(gradient + at), centred = load<V>(x + at) - means[row];
      ofScale += g * centred * factors[row];
      ofShift += g;
      store(dx + at, g * wide * factors[row] - offsets[row] - centred * slopes[row]);
    }
    store(scaleSum + column, load<V>(scaleSum + column) + ofScale);
    store(shiftSum + column, load<V>(shiftSum + column) + ofShift);
  });
}

void layerNormGradientOfRows(const LayerNormGradientArguments& a, int64_t first, int64_t last, float* scaleSum,
                             float* shiftSum) {
  constexpr int together = 4;
  zero(scaleSum, a.columns);
  zero(shiftSum, a.columns);
  withElement(a.type, [=](auto kind) TANDEM_INLINE_LAMBDA {
    using T = decltype(kind);
    int64_t row = first;
    for (; row + together <= last; row += together) gradientOfRows<together, T>(a, row, scaleSum, shiftSum);
    for (; row < last; ++row) gradientOfRows<1, T>(a, row, scaleSum, shiftSum);
  });
}

/// The error function, within 4e-7 of itself: a quotient of polynomials where |x| < 4 (of Eigen's generic_fast_erf),
/// and 1 beyond, as fp32 rounds it. NaN stays NaN.
template <class V>
TANDEM_INLINE V errorFunction(V x) {
  const V square = x * x;
  V above = square * -2.72614225801306e-10F + 2.77068142495902e-08F;
  above = above * square + -2.10102402082508e-06F;
  above = above * square + -5.69250639462346e-05F;
  above = above * square + -7.34990630326855e-04F;
  above = above * square + -2.95459980854025e-03F;
  above = above * square + -1.60960333262415e-02F;
  V below = square * -1.45660718464996e-05F + -2.13374055278905e-04F;
  below = below * square + -1.68282697438203e-03F;
  below = below * square + -7.37332916720468e-03F;
  below = below * square + -1.42647390514189e-02F;
  V result = x * above / below;
  result = x <= -4.0F ? V{} - 1.0F : result;
  return x >= 4.0F ? V{} + 1.0F : result;
}

/// The share of the standard normal distribution below x.
template <class V>
TANDEM_INLINE V shareBelow(V x) {
  return errorFunction(x * 0.707106781F) * 0.5F + 0.5F;
}

void geluOfValues(Element type, int64_t count, const void* given, void* result) {
  withElement(type, [=](auto kind) TANDEM_INLINE_LAMBDA {
    using T = decltype(kind);
    const T* const x = static_cast<const T*>(given);
    T* const y = static_cast<T*>(result);
    overColumns(count, [=](auto vector, int64_t at) TANDEM_INLINE_LAMBDA {
      const auto value = load<decltype(vector)>(x + at);
      store(y + at, value * shareBelow(value));
    });
  });
}

void geluGradientOfValues(Element type, int64_t count, const void* ofOutput, const void* given, void* result) {
  withElement(type, [=](auto kind) TANDEM_INLINE_LAMBDA {
    using T = decltype(kind);
    const T *const gradient = static_cast<const T*>(ofOutput), *const x = static_cast<const T*>(given);
    T* const dx = static_cast<T*>(result);
    overColumns(count, [=](auto vector, int64_t at) TANDEM_INLINE_LAMBDA {
      using V = decltype(vector);
      constexpr float inverseRootOf2Pi = 0.398942280F;
      const V value = load<V>(x + at), density = exponential(value * value * -0.5F) * inverseRootOf2Pi;
      store(dx + at, load<V>(gradient + at) * (shareBelow(value) + value * density));
    });
  });
}

}  // namespace

template <>
TransformerKernels TransformerKernels::with<Isa::TANDEM_ISA>() {
  return {layerNormOfRows, layerNormGradientOfRows, geluOfValues, geluGradientOfValues};
}

}  // namespace tandem
