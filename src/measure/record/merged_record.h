#pragma once

#include <vector>

#include "measure/record/record.h"

namespace tandem {

/// The record of a run of several ranks, made of each rank's own, which are by rank. Replicas count on from rank to
/// rank, losses are means over all, times are the longest. Memory is the sum. Signs of interference are the largest.
/// Ranks with the same name of their host are on one. Of a host, environment, telemetry, peaks and energy are those of
/// its first rank; energy is the sum over the hosts. With several hosts replicas and interference name theirs.
/// Everything else is rank 0's. REQUIRES: at least one record; all are of runs that were measured.
RunRecord mergedRecord(std::vector<RunRecord> ranks);

/// The sum of a quantity over all hosts of a run, of which rank 0's has `ofFirst`; 0 if it is not known of one.
double sumOverHosts(const RunRecord& record, double ofFirst, double HostRecord::*quantity);

}  // namespace tandem
