#pragma once

#include "base/clock.h"

namespace tandem {

/// Time since this process was started by the system, from /proc; resolution one clock tick (10 ms).
Nanos sinceProcessStart();

}  // namespace tandem
