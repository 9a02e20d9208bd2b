#include <type_traits>

#include "kernels/norm/norm_act_kernel.h"
#include "kernels/simd/elementary.h"
#include "kernels/simd/vector.h"

namespace tandem {
namespace {

// Rows that are read side by side. The prefetcher follows a few streams, and one access to the sums serves all rows.
constexpr int together = 8;       // rows of one tensor
constexpr int togetherOfAll = 4;  // rows of up to four tensors, one of them written: with 8, bf16 takes twice as long

// Merges `rows` rows into mean and squares of the `before` rows so far. First their own statistics are computed in
// registers, then both sets are merged (Chan, Golub, LeVeque 1979).
template <int rows, class T>
TANDEM_INLINE void mergeRows(const T* x, int64_t columns, int64_t before, float* mean, float* squares) {
  const auto seen = static_cast<float>(before);
  const float share = rows / (seen + rows), weight = seen * share;
  overColumns(columns, [=](auto kind, int64_t column) TANDEM_INLINE_LAMBDA {
    using V = decltype(kind);
    V values[rows];
    V sum{};
    for (int row = 0; row < rows; ++row) {
      values[row] = load<V>(x + row * columns + column);
      sum += values[row];
    }
    const V own = sum * (1.0F / rows);
    V deviations{};
    for (int row = 0; row < rows; ++row) deviations += (values[row] - own) * (values[row] - own);
    const V old = load<V>(mean + column), distance = own - old;
    store(mean + column, old + distance * share);
    store(squares + column, load<V>(squares + column) + deviations + distance * distance * weight);
  });
}

template <class T>
TANDEM_INLINE void statistics(const NormStatisticsArguments& a, int64_t first, int64_t last, float* mean,
                              float* squares) {
  const T* const x = static_cast<const T*>(a.x);
  zero(mean, a.columns);
  zero(squares, a.columns);
  int64_t row = first;
  for (; row + together <= last; row += together) {
    mergeRows<together>(x + row * a.columns, a.columns, row - first, mean, squares);
  }
  for (; row < last; ++row) mergeRows<1>(x + row * a.columns, a.columns, row - first, mean, squares);
}

// One function for forward and backward: a recomputed mask must equal that of the output to the last bit. The product
// has no other use than the sum; so the compiler fuses them everywhere, or where there is no FMA, nowhere.
template <class V>
TANDEM_INLINE V normalised(V x, V factor, V offset) {
  return x * factor + offset;
}

template <Activation value>
using Constant = std::integral_constant<Activation, value>;

/// z below 0 is 0, above 6 it is 6; NaN stays NaN.
template <class V>
TANDEM_INLINE V upTo6(V z) {
  z = z < V{} ? V{} : z;
  return z > 6.0F ? V{} + 6.0F : z;
}

template <Activation activation, class V>
TANDEM_INLINE V activated(V z) {
  if constexpr (activation == Activation::relu) return z < V{} ? V{} : z;  // NaN stays NaN
  if constexpr (activation == Activation::relu6) return upTo6(z);
  if constexpr (activation == Activation::silu) return z * sigmoid(z);
  if constexpr (activation == Activation::hardSwish) return z * (upTo6(z + 3.0F) * (1.0F / 6));
  return z;
}

/// The gradient of what was activated, `z`, from that of the output.
template <Activation activation, class V>
TANDEM_INLINE V activationGradient(V g, V z) {
  if constexpr (activation == Activation::relu) return z <= V{} ? V{} : g;
  if constexpr (activation == Activation::relu6) {
    const V low = z <= V{} ? V{} : g;
    return z >= 6.0F ? V{} : low;
  }
  if constexpr (activation == Activation::silu) {
    const V s = sigmoid(z);
    return g * s * (1.0F + z * (1.0F - s));
  }
  if constexpr (activation == Activation::hardSwish) {
    const V low = z <= -3.0F ? V{} : g * (z * (1.0F / 3) + 0.5F);
    return z >= 3.0F ? g : low;
  }
  return g;
}

/// Calls use(T{}, constant) with the element type, and the activation as a constant.
template <class Use>
TANDEM_INLINE void withElementAndActivation(Element type, Activation activation, const Use& use) {
  withElement(type, [&](auto kind) TANDEM_INLINE_LAMBDA {
    switch (activation) {
      case Activation::none:
        return use(kind, Constant<Activation::none>());
      case Activation::relu:
        return use(kind, Constant<Activation::relu>());
      case Activation::relu6:
        return use(kind, Constant<Activation::relu6>());
      case Activation::silu:
        return use(kind, Constant<Activation::silu>());
      case Activation::hardSwish:
        return use(kind, Constant<Activation::hardSwish>());
    }
  });
}

template <class T, Activation activation>
TANDEM_INLINE void apply(NormActArguments a, int64_t first, int64_t last) {
  const T* const x = static_cast<const T*>(a.x);
  const T* const residual = static_cast<const T*>(a.residual);
  T* const y = static_cast<T*>(a.y);
  for (int64_t row = first; row < last; ++row) {
    const int64_t at = row * a.columns;
    overColumns(a.columns, [&](auto kind, int64_t column) TANDEM_INLINE_LAMBDA {
      using V = decltype(kind);
      V value = normalised(load<V>(x + at + column), load<V>(a.factor + column), load<V>(a.offset + column));
      if (residual) value += load<V>(residual + at + column);
      store(y + at + column, activated<activation>(value));
    });
  }
}

/// The gradient before the activation at one position.
template <class V, class T, Activation activation>
TANDEM_INLINE V gradientBefore(const NormActGradientArguments& a, int64_t at, int64_t column, V x) {
  V g = load<V>(static_cast<const T*>(a.gradients[0]) + at);
  if (a.gradients[1]) g += load<V>(static_cast<const T*>(a.gradients[1]) + at);
  if (a.ofImage) g += load<V>(a.ofImage + column);
  if constexpr (activation == Activation::none) return g;
  const V z = a.y ? load<V>(static_cast<const T*>(a.y) + at)
                  : normalised(x, load<V>(a.factor + column), load<V>(a.offset + column));
  return activationGradient<activation>(g, z);
}

template <int rows, class T, Activation activation>
TANDEM_INLINE void sumRows(const NormActGradientArguments& a, int64_t row, float* sum, float* product) {
  overColumns(a.columns, [&](auto kind, int64_t column) TANDEM_INLINE_LAMBDA {
    using V = decltype(kind);
    const V mean = load<V>(a.mean + column);
    V sums{}, products{};
    for (int i = 0; i < rows; ++i) {
      const int64_t at = (row + i) * a.columns + column;
      const V x = load<V>(static_cast<const T*>(a.x) + at);
      V g = gradientBefore<V, T, activation>(a, at, column, x);
      if (a.masked) {
        T* const kept = static_cast<T*>(a.masked) + at;
        store(kept, g);
        if constexpr (sizeof(T) < sizeof(float)) g = load<V>(kept);  // as rounded, because dx is computed from it
      }
      sums += g;
      products += g * (x - mean);
    }
    store(sum + column, load<V>(sum + column) + sums);
    store(product + column, load<V>(product + column) + products);
  });
}

// Arguments by value here and below. Otherwise a store might change them, and each would be read again every time.
template <class T, Activation activation>
TANDEM_INLINE void sums(NormActGradientArguments a, int64_t first, int64_t last, float* sum, float* product) {
  zero(sum, a.columns);
  zero(product, a.columns);
  int64_t row = first;
  for (; row + togetherOfAll <= last; row += togetherOfAll) sumRows<togetherOfAll, T, activation>(a, row, sum, product);
  for (; row < last; ++row) sumRows<1, T, activation>(a, row, sum, product);
}

template <class T, Activation activation>
TANDEM_INLINE void gradient(NormActGradientArguments a, int64_t first, int64_t last) {
  const T* const kept = static_cast<const T*>(a.masked);
  for (int64_t row = first; row < last; ++row) {
    overColumns(a.columns, [&](auto kind, int64_t column) TANDEM_INLINE_LAMBDA {
      using V = decltype(kind);
      const int64_t at = row * a.columns + column;
      const V x = load<V>(static_cast<const T*>(a.x) + at);
      const V g = kept ? load<V>(kept + at) : gradientBefore<V, T, activation>(a, at, column, x);
      const V centred = x - load<V>(a.mean + column);
      const V result =
          (g - load<V>(a.bias + column)) * load<V>(a.factor + column) + centred * load<V>(a.slope + column);
      store(static_cast<T*>(a.dx) + at, result);
    });
  }
}

void normStatistics(const NormStatisticsArguments& a, int64_t first, int64_t last, float* mean, float* squares) {
  withElement(a.type,
              [&](auto kind) TANDEM_INLINE_LAMBDA { statistics<decltype(kind)>(a, first, last, mean, squares); });
}

void normAct(const NormActArguments& a, int64_t first, int64_t last) {
  withElementAndActivation(a.type, a.activation, [&](auto kind, auto activation) TANDEM_INLINE_LAMBDA {
    apply<decltype(kind), activation()>(a, first, last);
  });
}

void normActSums(const NormActGradientArguments& a, int64_t first, int64_t last, float* sum, float* product) {
  withElementAndActivation(a.type, a.activation, [&](auto kind, auto activation) TANDEM_INLINE_LAMBDA {
    sums<decltype(kind), activation()>(a, first, last, sum, product);
  });
}

void normActGradient(const NormActGradientArguments& a, int64_t first, int64_t last) {
  withElementAndActivation(a.type, a.activation, [&](auto kind, auto activation) TANDEM_INLINE_LAMBDA {
    gradient<decltype(kind), activation()>(a, first, last);
  });
}

}  // namespace

template <>
NormKernels NormKernels::with<Isa::TANDEM_ISA>() {
  return {normStatistics, normAct, normActSums, normActGradient};
}

}  // namespace tandem
