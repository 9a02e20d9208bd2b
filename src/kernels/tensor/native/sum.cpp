#include "kernels/simd/target_clones.h"
#include "kernels/tensor/sum_kernel.h"

namespace tandem::cpu {
namespace {

constexpr int64_t block = 1024;  // these sums stay in the first-level cache

/// Adds sources [first, first + sources) in their order. They are read side by side, so that the processor fetches
/// ahead in each: read one after another, each block would begin on a page that it did not expect.
template <int sources, class T>
TANDEM_INLINE void addSources(const SumArguments& a, int first, int64_t begin, int64_t count, float* sums) {
  const T* from[sources];
  for (int i = 0; i < sources; ++i) from[i] = static_cast<const T*>(a.sources[first + i]) + begin;
  for (int64_t i = 0; i < count; ++i) {
    float sum = sums[i];
    for (int source = 0; source < sources; ++source) sum += toFloat(from[source][i]);
    sums[i] = sum;
  }
}

template <class T>
TANDEM_INLINE void sumBlock(const SumArguments& a, int64_t begin, int64_t count) {
  float sums[block];
  const T* const first = static_cast<const T*>(a.sources[0]) + begin;
  for (int64_t i = 0; i < count; ++i) sums[i] = toFloat(first[i]);
  int next = 1;
  for (; a.sourceCount - next >= 4; next += 4) addSources<4, T>(a, next, begin, count, sums);
  switch (a.sourceCount - next) {
    case 3:
      addSources<3, T>(a, next, begin, count, sums);
      break;
    case 2:
      addSources<2, T>(a, next, begin, count, sums);
      break;
    case 1:
      addSources<1, T>(a, next, begin, count, sums);
      break;
    default:
      break;
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
