#pragma once

#include <string>

#include "measure/record/record.h"

namespace tandem {

/// Why a finished run was not steady; empty if it was, or if the run did not finish. One reason is a warm-up that ended
/// without a steady step. The other is a step time whose level changed by more than a tenth in the measured window
/// (measure/metrics/change_point.h). Repeat such a run instead of quoting its rate.
std::string notSteadyBecause(const RunRecord& record);

}  // namespace tandem
