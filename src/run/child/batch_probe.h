#pragma once

#include <functional>

#include "run/child/largest_fit.h"
#include "run/child/point_runner.h"

namespace tandem {

/// Called once before each probe, then between its steps.
using TryingCallback = std::function<void(int64_t batch, const Progress&)>;

/// Searches the batch of --batch=max (searchBatch()). Each probe runs five steps of the configuration in a child
/// process, with its deadline. On a CPU a probe is killed when its resident set exceeds memoryToUse() of the memory
/// available when the plan was made. On GPUs libtorch's allocator refuses. REQUIRES: the plan has a search.
FoundBatch findBatch(const PointRunner& runner, const RunPlan& plan, const TryingCallback& trying);

}  // namespace tandem
