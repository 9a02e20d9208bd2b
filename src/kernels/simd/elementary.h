#pragma once

#include "kernels/simd/vector.h"

/// Only for sources in folders isa/, as vector.h.
namespace tandem {

namespace vector_detail {
template <class V>
struct WordsOf {
  using Type = Words;
};
template <>
struct WordsOf<float> {
  using Type = uint32_t;
};
}  // namespace vector_detail

/// e^x within 2e-7 of itself; beyond [-87, 88] the value there. NaN stays NaN.
///
/// x is n times log 2 and a rest. The rest's exponential is a polynomial (expf.c of Moshier's Cephes library); 2^n is
/// made of n's bits.
template <class V>
TANDEM_INLINE V exponential(V x) {
  using Words = typename vector_detail::WordsOf<V>::Type;
  x = x < -87.0F ? V{} - 87.0F : x;
  x = x > 88.0F ? V{} + 88.0F : x;
  constexpr float rounder = 0x1.8p23F;  // adding it leaves whole numbers, in the low bits
  const V shifted = x * 1.44269504F + rounder, n = shifted - rounder;
  const V rest = x - n * 0.693359375F - n * -2.12194440e-4F;
  V sum = rest * 1.9875691500e-4F + 1.3981999507e-3F;
  sum = sum * rest + 8.3334519073e-3F;
  sum = sum * rest + 4.1665795894e-2F;
  sum = sum * rest + 1.6666665459e-1F;
  sum = sum * rest + 5.0000001201e-1F;
  sum = sum * rest * rest + rest + 1.0F;
  const Words power = (__builtin_bit_cast(Words, shifted) - 0x4B400000U + 127U) << 23;
  return sum * __builtin_bit_cast(V, power);
}

/// 1 / x within 3e-7 of itself, for x from 1 to 2^125: Newton's method. Its first guess negates the exponent; the
/// number makes the guess's error least. An AVX-512 division keeps its unit busy for 16 cycles. NaN stays NaN.
template <class V>
TANDEM_INLINE V reciprocal(V x) {
  using Words = typename vector_detail::WordsOf<V>::Type;
  V result = __builtin_bit_cast(V, 0x7EF311C3U - __builtin_bit_cast(Words, x));
  for (int step = 0; step < 3; ++step) result += result * (1.0F - x * result);
  return result;
}

/// 1 / (1 + e^-x) within 5e-7 of itself; below -80 the value there. NaN stays NaN.
template <class V>
TANDEM_INLINE V sigmoid(V x) {
  x = x < -80.0F ? V{} - 80.0F : x;  // reciprocal()'s limit
  return reciprocal(1.0F + exponential(-x));
}

}  // namespace tandem
