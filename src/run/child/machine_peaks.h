#pragma once

#include <map>
#include <span>
#include <string>

#include "autotune/timing_cache.h"
#include "run/plan/plan.h"

namespace tandem {

/// Per second, on the cores of all replicas of a plan together; 0 is unknown.
struct PeakRates {
  double flops = 0;  ///< in the plan's precision
  double bytes = 0;  ///< read and written by a copy
};

/// What the processors of this machine can do (kernels/peak/peaks.h): measured once by number of cores, 0.5 s of
/// arithmetic and 1 s of copying, and kept in measured.tsv of the cache folder. A child process measures, so that its
/// memory counts for no run; what it cannot measure, or only beside other programs, is unknown, with a warning. Nothing
/// is known of GPUs. For one thread.
class MachinePeaks {
 public:
  /// `executable`: path of this program. `anew`: what the cache has counts only when this object measured it.
  MachinePeaks(std::string executable, bool anew);

  PeakRates of(const RunPlan& plan);

 private:
  double measured(const std::string& what, const RunPlan& plan);

  std::string executable_;
  TimingCache cache_;
  bool anew_;
  std::map<std::string, double> own_;  // what this object measured, or failed to
};

/// The child's side, the hidden command `peaks WHAT THREAD...`: measures a row of the peaks (copy or a precision) on
/// those hardware threads, and writes the number on descriptor 3. Returns the exit code. Throws UsageError.
int runPeaks(std::span<const std::string> arguments);

}  // namespace tandem
