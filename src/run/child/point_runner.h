#pragma once

#include <functional>
#include <string>

#include "machine/process/utc_time.h"
#include "run/run_point.h"

namespace tandem {

class RankParents;  // run/child/rank_parents.h

struct PointOptions {
  double deadlineSeconds = 0;
  int64_t memoryLimit = 0;  ///< bytes of the resident sets of all ranks; 0: none
};

struct PointEvents {
  ProgressCallback progress;  ///< called on the thread of PointRunner::run()
};

/// Runs one configuration in a child process, or in one for each of --ranks: this executable with the command `worker`.
/// A child gets the configuration as JSON on its standard input and dies with this process.
///
/// Ranks meet at a store that this process serves on loopback, anew for each run, and their records become one. When
/// one fails, the others end too (run/child/worker_team.h). The run's outcome is then that of the rank which failed
/// first by itself (run/child/rank_report.h).
///
/// A crash, a kill or a missed deadline gives a failed record that says so. With a memory limit the peak
/// resident set of all children is read at least every 10 ms; they are killed if it exceeds the limit. After
/// requestStop() they are killed, and the record's outcome is failed, `interrupted`. Children that train get SIGTERM
/// instead, by which they end with a checkpoint; a second request kills them.
///
/// The child runs in its own process group, so that Ctrl-C reaches this process only. It does not inherit the variables
/// that would override the placement of its threads (overridesPlacement in machine/cpu/host_facts.h). This process
/// creates no tensor, OpenMP team or CUDA context. Warnings of the child are those of this process, which says each
/// once.
class PointRunner {
 public:
  /// `executable`: path of this program. `parents`: those of the ranks that a launcher started, of which this process
  /// leads; they outlive this object. Null: all ranks are children of this process.
  explicit PointRunner(std::string executable, RankParents* parents = nullptr)
      : executable_(std::move(executable)), sweepBegin_(exactUtcTime()), parents_(parents) {}

  /// Throws InternalError if the child cannot be started. REQUIRES: `config` is that of a RunPlan.
  RunRecord run(const Config& config, const PointOptions& options, const PointEvents& events) const;

  /// Asks every PointRunner to stop. Async-signal-safe; cannot be undone.
  static void requestStop() noexcept;
  static bool stopRequested() noexcept { return stopRequests() > 0; }
  static int stopRequests() noexcept;

 private:
  std::string executable_;
  std::string sweepBegin_;  // all runs of this object are one sweep: they run the same kernels
  RankParents* parents_;
};

/// The child's side: reads the configuration from standard input, runs it, and writes progress and the record as JSON
/// lines to descriptor 3 (worker_protocol.h). Returns the exit code. Throws UsageError if no PointRunner started it.
int runWorker();

}  // namespace tandem
