#include "kernels/simd/target_clones.h"
#include "kernels/tensor/non_finite_kernel.h"

namespace tandem::cpu {
namespace {

/// Whether an element's exponent is all ones, as in infinities and NaNs.
template <class Word, Word exponent>
TANDEM_INLINE bool has(const void* values, int64_t first, int64_t last) {
  const Word* const bits = static_cast<const Word*>(values);
  Word found = 0;
  for (int64_t i = first; i < last; ++i) found |= static_cast<Word>((bits[i] & exponent) == exponent);
  return found != 0;
}

}  // namespace

TANDEM_CLONES bool hasNonFinite(const NonFiniteArguments& a, int64_t first, int64_t last) {
  if (a.type == Element::fp32) return has<uint32_t, 0x7f800000U>(a.values, first, last);
  if (a.type == Element::bf16) return has<uint16_t, 0x7f80U>(a.values, first, last);
  return has<uint16_t, 0x7c00U>(a.values, first, last);
}

}  // namespace tandem::cpu
