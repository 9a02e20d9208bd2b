#include "kernels/simd/target_clones.h"
#include "kernels/tensor/sum_kernel.h"

namespace tandem::cpu {
namespace {

constexpr int64_t block = 1024;  // these sums stay in the first-level cache

template <class T>
TANDEM_INLINE void sumBlock(const SumArguments& a, int64_t begin, int64_t count) {
  float sums[block];
  const T* const first = static_cast<const T*>(a.sources[0]) + begin;
  for (int64_t i = 0; i < count; ++i) sums[i] = toFloat(first[i]);
  for (int source = 1; source < a.sourceCount; ++source) {
    const T* const next = static_cast<const T*>(a.sources[source]) + begin;
    for (int64_t i = 0; i < count; ++i) sums[i] += toFloat(next[i]);
  }
  T* const out = static_cast<T*>(a.out) + begin;
  for (int64_t i = 0; i < count; ++i) out[i] = fromFloat<T>(sums[i]);
}

template <class T>
TANDEM_INLINE void sumRange(const SumArguments& a, int64_t first, int64_t last) {
  for (int64_t begin = first; begin < last; begin += block) {
    sumBlock<T>(a, begin, block < last - begin ? block : last - begin);
  }
}

}  // namespace

TANDEM_CLONES void sumInto(const SumArguments& a, int64_t first, int64_t last) {
  withElement(a.type, [&](auto kind) TANDEM_INLINE_LAMBDA { sumRange<decltype(kind)>(a, first, last); });
}

}  // namespace tandem::cpu
