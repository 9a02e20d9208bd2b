#pragma once

#include <string>

#include "measure/record/record.h"

namespace tandem {

/// Why a finished run was not steady: its warm-up ended without a steady step, or the level of the step time changed by
/// more than a tenth in the measured window (measure/metrics/change_point.h). Empty when it was steady, and for a run
/// that did not finish. Such a rate is one to be repeated, not to be quoted.
std::string notSteadyBecause(const RunRecord& record);

}  // namespace tandem
