#include "kernels/lanes.h"

namespace tandem {

int64_t vectorLanes() {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                           __builtin_cpu_supports("avx512vl");
  return wide ? 16 : 8;
#else
  return 8;
#endif
}

}  // namespace tandem
