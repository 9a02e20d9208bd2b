#pragma once

#include <cstdint>

#include "run/plan/plan.h"

namespace tandem {

/// The threads that a process has at most while it runs a plan, beside the one that calls.
int64_t threadsOf(const RunPlan& plan);

}  // namespace tandem
