#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace tandem {

/// Bytes of a core's second-level cache, at least half a MiB, which also stands for an unknown size.
inline int64_t coreCacheBytes() {
  static const int64_t bytes = std::max<int64_t>(sysconf(_SC_LEVEL2_CACHE_SIZE), 1 << 19);
  return bytes;
}

}  // namespace tandem
