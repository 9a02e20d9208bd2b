#pragma once

#include <vector>

#include "measure/record/record.h"

namespace tandem {

/// The record of a run of several ranks, made of each rank's own, which are by rank. Replicas count on from rank to
/// rank, losses are means over all, times are the longest. Memory is the sum, as on one host. Signs of interference are
/// the largest. Everything else is rank 0's. REQUIRES: at least one record; all are of runs that were measured.
RunRecord mergedRecord(std::vector<RunRecord> ranks);

}  // namespace tandem
