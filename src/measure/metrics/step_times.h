#pragma once

#include <vector>

#include "measure/record/record.h"

namespace tandem {

/// Seconds of each measured step of the whole run: the slowest replica's wall time of that step. The n-th sample of
/// each replica is step n; steps that some replica lacks are left out.
std::vector<double> stepSeconds(const RunRecord& record);

}  // namespace tandem
