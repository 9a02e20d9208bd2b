#include "kernels/simd/isa_dispatch.h"

namespace tandem {
namespace {

Isa detect() {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  return avx2 && avx512 ? Isa::avx512 : avx2 ? Isa::avx2 : Isa::plain;
#else
  return Isa::plain;
#endif
}

}  // namespace

Isa widestIsa() {
  static const Isa widest = detect();
  return widest;
}

int64_t vectorLanes() { return vectorLanesOf(widestIsa()); }

}  // namespace tandem
