#pragma once

#include <functional>
#include <string>

#include "machine/process/utc_time.h"
#include "run/run_point.h"

namespace tandem {

struct PointOptions {
  double deadlineSeconds = 0;
  int64_t memoryLimit = 0;  ///< bytes of the child's resident set; 0: none
};

struct PointEvents {
  ProgressCallback progress;  ///< called on the thread of PointRunner::run()
};

/// Runs one configuration in a child process: this executable with the command `worker`. The child gets the
/// configuration as JSON on its standard input and dies with this process.
///
/// A crash, a kill or a missed deadline gives a failed record that says so. With a memory limit the child's peak
/// resident set is read at least every 10 ms; the child is killed if it exceeds the limit. After requestStop() the
/// child is killed, and the record's outcome is failed, `interrupted`.
///
/// The child runs in its own process group, so that Ctrl-C reaches this process only. It does not inherit the variables
/// that would override the placement of its threads (overridesPlacement in machine/cpu/host_facts.h). This process
/// creates no tensor, OpenMP team or CUDA context. Warnings of the child are those of this process, which says each
/// once.
class PointRunner {
 public:
  /// `executable`: path of this program.
  explicit PointRunner(std::string executable) : executable_(std::move(executable)), sweepBegin_(exactUtcTime()) {}

  /// Throws InternalError if the child cannot be started. REQUIRES: `config` is that of a RunPlan.
  RunRecord run(const Config& config, const PointOptions& options, const PointEvents& events) const;

  /// Asks every PointRunner to stop. Async-signal-safe; cannot be undone.
  static void requestStop() noexcept;
  static bool stopRequested() noexcept;

 private:
  std::string executable_;
  std::string sweepBegin_;  // all runs of this object are one sweep: they run the same kernels
};

/// The child's side: reads the configuration from standard input, runs it, and writes progress and the record as JSON
/// lines to descriptor 3 (worker_protocol.h). Returns the exit code. Throws UsageError if no PointRunner started it.
int runWorker();

}  // namespace tandem
