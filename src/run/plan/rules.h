#pragma once

#include "run/plan/plan.h"

namespace tandem {

/// Rules on what the rows that a configuration names can do together and on these devices. Throws UsageError with the
/// first one broken. Looks at no machine.
void checkSetup(const Config& config, const Setup& setup);

/// Rules on a plan whose devices, batch, data and graph are resolved. Throws UsageError with the first one broken.
void checkPlan(const RunPlan& plan);

}  // namespace tandem
