#pragma once

#include <cstdint>

#include "kernels/simd/target_clones.h"

namespace tandem {

/// Element types of kernel arguments whose pointers are untyped.
enum class Element { fp32, bf16, fp16 };

constexpr int bytesOf(Element type) { return type == Element::fp32 ? 4 : 2; }

/// The bits of a bfloat16, the upper half of an fp32, and of an IEEE half with 5 exponent and 10 fraction bits. For
/// sources that must not include libtorch's headers.
struct Bf16 {
  uint16_t bits;
};
struct Half {
  uint16_t bits;
};

TANDEM_INLINE float toFloat(float value) { return value; }
TANDEM_INLINE float toFloat(Bf16 value) { return __builtin_bit_cast(float, static_cast<uint32_t>(value.bits) << 16); }

/// Exact. The exponent of a normal number is shifted and scaled back. A subnormal's fraction is placed behind a leading
/// one, which is then subtracted. (As in c10/util/Half.h, after Maratyszcza's FP16.)
TANDEM_INLINE float toFloat(Half value) {
  const uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000U) << 16;
  const uint32_t twice = static_cast<uint32_t>(value.bits) << 17;
  const float normal = __builtin_bit_cast(float, (twice >> 4) + (0xE0U << 23)) * 0x1p-112F;
  const float subnormal = __builtin_bit_cast(float, (twice >> 17) | (126U << 23)) - 0.5F;
  return __builtin_bit_cast(float, sign | __builtin_bit_cast(uint32_t, twice < (1U << 27) ? subnormal : normal));
}

/// Rounds to nearest, ties to even. NaN stays NaN; a value too large for a half becomes infinite. Free of branches, so
/// that loops vectorise.
template <class T>
T fromFloat(float value);

template <>
TANDEM_INLINE float fromFloat<float>(float value) {
  return value;
}

template <>
TANDEM_INLINE Bf16 fromFloat<Bf16>(float value) {
  const auto bits = __builtin_bit_cast(uint32_t, value);
  const uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const bool isNan = (bits & 0x7fffffffU) > 0x7f800000U;
  return {static_cast<uint16_t>(isNan ? 0x7fc0U : rounded)};
}

/// Adding a suitable power of two leaves only a half's fraction bits, so the addition rounds, for subnormals too.
template <>
TANDEM_INLINE Half fromFloat<Half>(float value) {
  const auto bits = __builtin_bit_cast(uint32_t, value);
  const uint32_t twice = bits << 1, exponent = twice & 0xFF000000U;
  const uint32_t bias = exponent < 0x71000000U ? 0x71000000U : exponent;
  const float size = __builtin_bit_cast(float, bits & 0x7fffffffU) * 0x1p+112F * 0x1p-110F;  // infinite beyond a half
  const auto sum = __builtin_bit_cast(uint32_t, __builtin_bit_cast(float, (bias >> 1) + 0x07800000U) + size);
  const uint32_t rounded = ((sum >> 13) & 0x7C00U) + (sum & 0x0FFFU);
  return {static_cast<uint16_t>(((bits >> 16) & 0x8000U) | (twice > 0xFF000000U ? 0x7E00U : rounded))};
}

/// Calls use(T{}) with the type of `type`; a GPU passes its own types. `use` is a TANDEM_INLINE_LAMBDA in cloned
/// functions.
template <class Fp32 = float, class Brain = Bf16, class Ieee = Half, class Use>
TANDEM_INLINE auto withElement(Element type, const Use& use) {
  if (type == Element::fp32) return use(Fp32{});
  if (type == Element::bf16) return use(Brain{});
  return use(Ieee{});
}

}  // namespace tandem
