#pragma once

#include <span>
#include <string>

#include "run/child/point_runner.h"
#include "run/child/worker_protocol.h"

namespace tandem {

/// Of outcomes in the order of their ends: the first failure that is no consequence of another one, whose code would be
/// `peer`; else the first failure. Null without any.
const Outcome* causeAmong(std::span<const Outcome> outcomes);

/// Runs an order in a worker for each of these places, and waits for all. They are ranks of this process; others may
/// run elsewhere. The result is one record, with the outcome of the rank that failed first by itself. Throws as
/// ChildProcess. REQUIRES: at least one place, ranks in their order.
RunRecord runWorkers(const std::string& executable, const WorkerOrder& order, std::span<const RankPlace> places,
                     const PointOptions& options, const PointEvents& events);

}  // namespace tandem
