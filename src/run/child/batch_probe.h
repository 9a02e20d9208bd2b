#pragma once

#include <functional>

#include "run/child/largest_fit.h"
#include "run/child/point_runner.h"

namespace tandem {

/// Called between the steps of a probe, and once before its first.
using TryingCallback = std::function<void(int64_t batch, const Progress&)>;

/// Tries what --batch=max of a plan comes to: each probe is a run of five steps (forward, backward, exchange,
/// update) of that configuration in a child process, with the configuration's deadline. On a CPU a probe fits when its
/// peak resident set is within memoryToUse(available when the search begins); one that goes beyond is killed. On GPUs
/// their allocator says so. REQUIRES: the plan has a search.
FoundBatch findBatch(const PointRunner& runner, const RunPlan& plan, const TryingCallback& trying);

}  // namespace tandem
