#pragma once

#include <vector>

#include "measure/record/record.h"

namespace tandem {

/// Seconds of each measured step: the wall time of the slowest replica in that step. The n-th sample of each replica is
/// step n. Steps that some replica lacks are left out.
std::vector<double> stepSeconds(const RunRecord& record);

}  // namespace tandem
