#pragma once

#include <string>

#include "measure/record/record.h"

namespace tandem {

/// Why a finished run was not steady; empty if it was, or if the run did not finish. Either its warm-up ended without a
/// steady step, or the level of the step time changed by more than a tenth in the measured window
/// (measure/metrics/change_point.h). Repeat such a run instead of quoting its rate.
std::string notSteadyBecause(const RunRecord& record);

}  // namespace tandem
