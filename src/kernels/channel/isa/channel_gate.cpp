#include "kernels/channel/channel_gate_kernel.h"
#include "kernels/simd/vector.h"

namespace tandem {
namespace {

// Rows that are added before their sum goes to the column's: fewer accesses to it, and a smaller error. (Of several
// tensors fewer, as in norm_act.cpp.)
constexpr int together = 8, togetherOfAll = 4;

template <int rows, class T>
TANDEM_INLINE void addRows(const T* x, int64_t columns, float* sums) {
  overColumns(columns, [=](auto kind, int64_t column) TANDEM_INLINE_LAMBDA {
    using V = decltype(kind);
    V sum{};
    for (int row = 0; row < rows; ++row) sum += load<V>(x + row * columns + column);
    store(sums + column, load<V>(sums + column) + sum);
  });
}

template <int rows, class T>
TANDEM_INLINE void rowsGradients(const T* gradient, const T* x, const float* gate, int64_t columns, T* dx,
                                 float* sums) {
  overColumns(columns, [=](auto kind, int64_t column) TANDEM_INLINE_LAMBDA {
    using V = decltype(kind);
    const V factor = load<V>(gate + column);
    V sum{};
    for (int row = 0; row < rows; ++row) {
      const int64_t at = row * columns + column;
      const V g = load<V>(gradient + at);
      sum += g * load<V>(x + at);
      store(dx + at, g * factor);
    }
    store(sums + column, load<V>(sums + column) + sum);
  });
}

void channelSums(const PixelRows& image, const void* given, float* sums) {
  zero(sums, image.columns);
  withElement(image.type, [=](auto kind) TANDEM_INLINE_LAMBDA {
    const auto* const x = static_cast<const decltype(kind)*>(given);
    int64_t row = 0;
    for (; row + together <= image.rows; row += together) {
      addRows<together>(x + row * image.columns, image.columns, sums);
    }
    for (; row < image.rows; ++row) addRows<1>(x + row * image.columns, image.columns, sums);
  });
}

void channelProductGradients(const PixelRows& image, const void* ofProduct, const void* given, const float* gate,
                             void* result, float* sums) {
  zero(sums, image.columns);
  withElement(image.type, [=](auto kind) TANDEM_INLINE_LAMBDA {
    const auto* const gradient = static_cast<const decltype(kind)*>(ofProduct);
    const auto* const x = static_cast<const decltype(kind)*>(given);
    auto* const dx = static_cast<decltype(kind)*>(result);
    int64_t row = 0;
    for (; row + togetherOfAll <= image.rows; row += togetherOfAll) {
      const int64_t at = row * image.columns;
      rowsGradients<togetherOfAll>(gradient + at, x + at, gate, image.columns, dx + at, sums);
    }
    for (; row < image.rows; ++row) {
      const int64_t at = row * image.columns;
      rowsGradients<1>(gradient + at, x + at, gate, image.columns, dx + at, sums);
    }
  });
}

}  // namespace

template <>
ChannelKernels ChannelKernels::with<Isa::TANDEM_ISA>() {
  return {channelSums, channelProductGradients};
}

}  // namespace tandem
