#pragma once

#include <functional>

#include "measure/record/record.h"
#include "run/plan/plan.h"

namespace tandem {

/// What a run is doing; at last it compares its first steps (--verify).
enum class Phase { choosingKernels, sharingOut, warmingUp, measuring, comparing, training, evaluating };

struct Progress {
  Phase phase = Phase::warmingUp;
  int64_t step = 0, steps = 0;  ///< finished steps or measurements of kernels, and their total; 0: not known
  double imagesPerSecond = 0;
  double secondsLeft = 0;  ///< until the window or the training ends; 0 during warm-up
  std::string line = {};   ///< of a training: what shall stay on the screen; empty: nothing
};

/// Gets the progress before each measurement of kernels, before each trial of shares, and between steps at most ten
/// times a second; may be empty. runPoint() calls it on its own thread, and for steps on replica 0's.
using ProgressCallback = std::function<void(const Progress&)>;

/// Gets the record of a point that was measured, before its steps are compared (--verify). May be empty.
using MeasuredCallback = std::function<void(const RunRecord&)>;

/// Runs one resolved configuration in this process and returns its record. A failure does not throw: the record's
/// outcome is then failed, with the reason.
RunRecord runPoint(const RunPlan& plan, const ProgressCallback& progress, const MeasuredCallback& measured = nullptr);

}  // namespace tandem
