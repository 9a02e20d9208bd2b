#pragma once

#include <map>
#include <span>
#include <string>

#include "autotune/timing_cache.h"
#include "run/plan/plan.h"

namespace tandem {

/// Rates per second on the cores of all replicas of a plan together; 0: not known.
struct PeakRates {
  double flops = 0;  ///< in the plan's precision
  double bytes = 0;  ///< bytes that a copy reads and writes
};

/// Measured peaks of this machine's processors (kernels/peak/peaks.h); GPUs are not measured. For one thread.
///
/// Each peak is measured once per number of cores, 0.5 s of arithmetic and 1 s of copying, and kept in
/// timingCacheFile(). A child process measures, so that its memory counts in no run. If it fails or other programs used
/// the cores, a warning is logged and the peak is not known. Nor is it if no loop measures the precision here.
class MachinePeaks {
 public:
  /// `executable`: path of this program. `anew`: measures each peak once more and ignores what the cache had before.
  MachinePeaks(std::string executable, bool anew);

  PeakRates of(const RunPlan& plan);

 private:
  double measured(const std::string& what, const RunPlan& plan);

  std::string executable_;
  TimingCache cache_;
  bool anew_;
  std::map<std::string, double> own_;  // measured by this object; 0 after a failure, so it is not tried again
};

/// The child's side: the hidden command `peaks WHAT THREAD...`. Measures a peak ("copy" or a precision) on these
/// hardware threads and writes "RATE SHARE\n" to descriptor 3. SHARE is the part of the cores' time that it got, 0
/// to 1. Returns the exit code. Throws UsageError for wrong arguments.
int runPeaks(std::span<const std::string> arguments);

}  // namespace tandem
