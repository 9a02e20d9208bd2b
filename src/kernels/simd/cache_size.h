#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace tandem {

/// Bytes of a core's second-level cache; half a MiB where that is unknown.
inline int64_t coreCacheBytes() {
  static const int64_t bytes = std::max<int64_t>(sysconf(_SC_LEVEL2_CACHE_SIZE), 1 << 19);
  return bytes;
}

}  // namespace tandem
