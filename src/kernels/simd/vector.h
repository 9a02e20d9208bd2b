#pragma once

#include <cstring>

#include "kernels/simd/element.h"
#include "kernels/simd/isa_dispatch.h"

/// Several fp32 values as one, a register of AVX-512 or AVX2, for loops that the compiler does not vectorise by itself.
///
/// Only for sources in folders isa/ (kernels/simd/isa_dispatch.h), which are built once for each TANDEM_ISA with its
/// compiler flags. (In clones of a function, target_clones.h, the compiler splits such values.) Nothing there may be
/// shared with other sources: what is called is inlined or has internal linkage. `load<V>`, `store` and the others also
/// work for a single float, so the same code handles the rest of a row.
#pragma GCC diagnostic ignored "-Wpsabi"  // all is inlined: no vector is ever passed in a call

namespace tandem {

constexpr int lanes = vectorLanesOf(Isa::TANDEM_ISA);
using Floats = float __attribute__((vector_size(lanes * sizeof(float))));

namespace vector_detail {
using Halves = uint16_t __attribute__((vector_size(lanes * sizeof(uint16_t))));
using Words = uint32_t __attribute__((vector_size(lanes * sizeof(uint32_t))));
}  // namespace vector_detail

template <class V>
constexpr int64_t lanesOf = sizeof(V) / sizeof(float);

template <class V>
TANDEM_INLINE V load(const float* from) {
  V value;
  std::memcpy(&value, from, sizeof(V));
  return value;
}

template <class V>
TANDEM_INLINE V load(const Bf16* from) {
  if constexpr (lanesOf<V> == 1) {
    return toFloat(*from);
  } else {
    vector_detail::Halves halves;
    std::memcpy(&halves, from, sizeof(halves));
    return reinterpret_cast<V>(__builtin_convertvector(halves, vector_detail::Words) << 16);
  }
}

/// As toFloat(Half).
template <class V>
TANDEM_INLINE V load(const Half* from) {
  if constexpr (lanesOf<V> == 1) {
    return toFloat(*from);
  } else {
    using namespace vector_detail;
    Halves halves;
    std::memcpy(&halves, from, sizeof(halves));
    const Words bits = __builtin_convertvector(halves, Words), sign = (bits & 0x8000U) << 16, twice = bits << 17;
    const auto normal = reinterpret_cast<V>((twice >> 4) + (0xE0U << 23)) * 0x1p-112F;
    const auto subnormal = reinterpret_cast<V>((twice >> 17) | (126U << 23)) - 0.5F;
    return reinterpret_cast<V>(
        sign | (twice < (1U << 27) ? reinterpret_cast<Words>(subnormal) : reinterpret_cast<Words>(normal)));
  }
}

template <class V>
TANDEM_INLINE void store(float* to, V value) {
  std::memcpy(to, &value, sizeof(V));
}

/// Rounds as fromFloat<Bf16>() does.
template <class V>
TANDEM_INLINE void store(Bf16* to, V value) {
  if constexpr (lanesOf<V> == 1) {
    *to = fromFloat<Bf16>(value);
  } else {
    using namespace vector_detail;
    const auto bits = reinterpret_cast<Words>(value);
    const Words rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    const Words kept = (bits & 0x7fffffffU) > 0x7f800000U ? Words{} + 0x7fc0U : rounded;
    const Halves halves = __builtin_convertvector(kept, Halves);
    std::memcpy(to, &halves, sizeof(halves));
  }
}

/// Rounds as fromFloat<Half>() does.
template <class V>
TANDEM_INLINE void store(Half* to, V value) {
  if constexpr (lanesOf<V> == 1) {
    *to = fromFloat<Half>(value);
  } else {
    using namespace vector_detail;
    const auto bits = reinterpret_cast<Words>(value);
    const Words twice = bits << 1, exponent = twice & 0xFF000000U;
    const Words bias = exponent < 0x71000000U ? Words{} + 0x71000000U : exponent;
    const V size = reinterpret_cast<V>(bits & 0x7fffffffU) * 0x1p+112F * 0x1p-110F;
    const auto sum = reinterpret_cast<Words>(reinterpret_cast<V>((bias >> 1) + 0x07800000U) + size);
    const Words rounded = ((sum >> 13) & 0x7C00U) + (sum & 0x0FFFU);
    const Words kept = ((bits >> 16) & 0x8000U) | (twice > 0xFF000000U ? Words{} + 0x7E00U : rounded);
    const Halves halves = __builtin_convertvector(kept, Halves);
    std::memcpy(to, &halves, sizeof(halves));
  }
}

/// Calls body(V{}, column) for vectors of columns, then for single ones.
template <class Body>
TANDEM_INLINE void overColumns(int64_t columns, const Body& body) {
  int64_t column = 0;
  for (; column + lanes <= columns; column += lanes) body(Floats{}, column);
  for (; column < columns; ++column) body(float{}, column);
}

TANDEM_INLINE void zero(float* values, int64_t count) {
  std::memset(values, 0, static_cast<size_t>(count) * sizeof(float));
}

}  // namespace tandem
