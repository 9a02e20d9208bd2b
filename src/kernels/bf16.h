#pragma once

#include <bit>
#include <cstdint>

#include "kernels/clones.h"

namespace tandem {

/// Element types of kernel arguments whose pointers are untyped.
enum class Element { fp32, bf16 };

/// The bits of a bfloat16: the upper half of an fp32. For raw pointers, where libtorch's headers must stay out.
struct Bf16 {
  uint16_t bits;
};

TANDEM_INLINE float toFloat(float value) { return value; }
TANDEM_INLINE float toFloat(Bf16 value) { return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16); }

/// Rounds to nearest, ties to even; NaN stays NaN. Without branches, so that loops vectorise.
template <class T>
T fromFloat(float value);

template <>
TANDEM_INLINE float fromFloat<float>(float value) {
  return value;
}

template <>
TANDEM_INLINE Bf16 fromFloat<Bf16>(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const bool isNan = (bits & 0x7fffffffU) > 0x7f800000U;
  return {static_cast<uint16_t>(isNan ? 0x7fc0U : rounded)};
}

}  // namespace tandem
