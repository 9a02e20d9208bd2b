#pragma once

#include "measure/record/record.h"
#include "run/plan/plan.h"
#include "run/run_point.h"

namespace tandem {

/// Trains the network of a plan to the end, as --epochs and the options around it say, and fills the record. Throws
/// what replicas throw, and as checkTraining(), checkpointToResume() and CheckpointFolder.
void trainPoint(const RunPlan& plan, const ProgressCallback& progress, RunRecord& record);

}  // namespace tandem
