#pragma once

#include <span>
#include <string>
#include <vector>

#include "run/child/point_runner.h"
#include "run/child/rank_report.h"
#include "run/child/worker_protocol.h"

namespace tandem {

/// Runs an order in a worker for each of these places, and waits for all. They are ranks of this process; others may
/// run elsewhere. Returns how each ended. When one fails, the others have 1.5 s to end. One of several that does
/// nothing for the timeout (--timeout) in the midst of a step counts as failed, whatever the ranks' own waits do.
/// Throws as ChildProcess. REQUIRES: at least one place, ranks in their order.
std::vector<RankReport> runWorkers(const std::string& executable, const WorkerOrder& order,
                                   std::span<const RankPlace> places, const PointOptions& options,
                                   const PointEvents& events);

}  // namespace tandem
