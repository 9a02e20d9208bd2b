#pragma once

#include <string>

#include "measure/record/record.h"

namespace tandem {

/// The least number of steps of a window from which a change of its level is seen.
constexpr size_t fewestJudgedSteps = 20;

/// Why a finished run was not steady; empty if it was, or if the run did not finish. One reason is a warm-up that ended
/// without a steady step. Another is a step time whose level changed by more than a tenth in the measured window
/// (measure/metrics/change_point.h), which has fewestJudgedSteps or more. The last is a given --warmup after which the
/// median of the first three steps exceeds that of the others by more than a tenth. Repeat such a run instead of
/// quoting its rate.
std::string notSteadyBecause(const RunRecord& record);

}  // namespace tandem
