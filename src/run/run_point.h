#pragma once

#include <functional>

#include "measure/record/record.h"
#include "run/plan/plan.h"

namespace tandem {

struct Progress {
  bool warmingUp = true;
  int64_t step = 0, steps = 0;  ///< finished steps, and their total; 0: not known yet
  double imagesPerSecond = 0;
  double secondsLeft = 0;  ///< until the window ends; 0 during warm-up
};

/// Gets the progress between steps, at most ten times a second; may be empty. runPoint() uses replica 0's thread.
using ProgressCallback = std::function<void(const Progress&)>;

/// Runs one resolved configuration in this process and returns its record. A failure does not throw: the record's
/// outcome is then failed, with the reason.
RunRecord runPoint(const RunPlan& plan, const ProgressCallback& progress);

}  // namespace tandem
