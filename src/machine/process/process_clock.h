#pragma once

#include "base/clock.h"

namespace tandem {

/// Time since the system started this process, from /proc. Resolution is one clock tick (10 ms).
Nanos sinceProcessStart();

/// Minor page faults of this process so far, which are its first touches of pages.
int64_t minorFaultsSoFar();

}  // namespace tandem
