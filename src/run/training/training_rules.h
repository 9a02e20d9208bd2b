#pragma once

#include "run/plan/plan.h"

namespace tandem {

/// Checks a plan that is a training. Throws UsageError with the first rule that is broken.
void checkTraining(const RunPlan& plan);

}  // namespace tandem
