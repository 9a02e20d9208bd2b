#pragma once

#include "base/clock.h"

namespace tandem {

/// Time since this process was started by the system, from /proc; resolution one clock tick (10 ms).
Nanos sinceProcessStart();

/// Minor page faults of this process so far: pages that the system handed out when they were touched.
int64_t minorFaultsSoFar();

}  // namespace tandem
