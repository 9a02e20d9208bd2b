#pragma once

#include <functional>

#include "measure/record/record.h"
#include "run/plan/plan.h"

namespace tandem {

struct Progress {
  bool warmingUp = true;
  int64_t step = 0, steps = 0;  ///< steps 0: not known yet
  double imagesPerSecond = 0;
  double secondsLeft = 0;
};

/// Called from replica 0's thread between steps, at most ten times a second.
using ProgressCallback = std::function<void(const Progress&)>;

/// Runs one resolved configuration in this process and returns its record: outcome ok, or failed with the reason.
RunRecord runPoint(const RunPlan& plan, const ProgressCallback& progress);

}  // namespace tandem
