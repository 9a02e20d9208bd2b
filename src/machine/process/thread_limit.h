#pragma once

#include <cstdint>

namespace tandem {

/// Throws UsageError if this process cannot have `count` more threads at once. Libraries would end the process, or wait
/// for the threads that they lack.
void requireThreads(int64_t count);

}  // namespace tandem
