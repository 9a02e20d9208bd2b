#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "autotune/timing_cache.h"
#include "run/plan/plan.h"

namespace tandem {

/// Rates per second on the cores of all replicas of a plan on this host together; 0: not known.
struct PeakRates {
  double flops = 0;  ///< in the plan's precision
  double bytes = 0;  ///< bytes that a copy reads and writes
};

/// Measured peaks of this machine's processors (kernels/peak/peaks.h); GPUs are not measured. For one thread.
///
/// Each peak is measured once per number of cores, in 0.5 s of arithmetic and 1 s of copying, and once more some
/// seconds later. If the two highest of its measurements differ by more than a tenth, it is measured again, a few
/// times. The highest counts, and is kept in timingCacheFile() with date and spread. A peak without a date, which an
/// earlier version measured once, is measured again.
///
/// A child process measures, so that its memory counts in no run. If it fails, if other programs used the cores, or if
/// no two measurements agree, a warning is logged and the peak is not known. Nor is it if no loop measures the
/// precision here. After PointRunner::requestStop() no peak is known.
class MachinePeaks {
 public:
  static constexpr double secondsApart = 1;  ///< beside the time of the other peaks, which come in between

  /// `executable`: path of this program. `anew`: measures each peak once more and ignores what the cache had before.
  /// `pause`: seconds between two measurements of a peak.
  MachinePeaks(std::string executable, bool anew, double pause = secondsApart);

  PeakRates of(const RunPlan& plan);

 private:
  struct Series;  // the measurements of one peak

  /// Finds the peaks in the cache or measures them, by turns.
  void find(const std::vector<std::string>& peaks, const RunPlan& plan);
  void measure(Series& series);
  /// Whether the series is done: its peak is known, or cannot be.
  bool settle(const Series& series);
  void giveUp(const Series& series, const std::string& reason);

  std::string executable_;
  TimingCache cache_;
  bool anew_;
  double pause_;
  std::map<std::string, double> own_;  // measured by this object; 0 after a failure, so it is not tried again
};

/// The child's side: the hidden command `peaks WHAT THREAD...`. Measures a peak ("copy" or a precision) on these
/// hardware threads and writes "RATE SHARE\n" to descriptor 3. SHARE is the part of the cores' time that it got, 0
/// to 1. Returns the exit code. Throws UsageError for wrong arguments.
int runPeaks(std::span<const std::string> arguments);

}  // namespace tandem
