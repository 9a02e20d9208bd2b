#pragma once

#include <functional>
#include <string>

#include "run/run_point.h"

namespace tandem {

struct PointOptions {
  double deadlineSeconds = 0;
  int64_t memoryLimit = 0;  ///< bytes of the child's resident set; 0: none
};

struct PointEvents {
  ProgressCallback progress;
};

/// Runs one configuration in a child process (this executable, `worker`), which gets the configuration as JSON on its
/// standard input and dies with this process. A crash, a kill or a missed deadline is a failed record that says so, and
/// so is more memory than its limit: the child is looked at every 10 ms and killed when its resident set has been
/// larger. After requestStop() (async-signal-safe) the child is killed and the record's outcome is failed/interrupted.
///
/// The child runs in its own process group, so that Ctrl-C reaches this process only, and without the variables that
/// would undo the placement of its threads (overridesPlacement in machine/cpu/host_facts.h). This process creates no
/// tensor, OpenMP team or CUDA context.
class PointRunner {
 public:
  /// `executable`: path of this program.
  explicit PointRunner(std::string executable) : executable_(std::move(executable)) {}

  /// REQUIRES: `config` is resolved, as RunPlan::config; no rule is checked here.
  RunRecord run(const Config& config, const PointOptions& options, const PointEvents& events) const;

  static void requestStop() noexcept;
  static bool stopRequested() noexcept;

 private:
  std::string executable_;
};

/// The child's side: reads the configuration from standard input, runs it, writes progress and the record as JSON lines
/// on descriptor 3. Returns the exit code. Throws UsageError when it was not started by a PointRunner.
int runWorker();

}  // namespace tandem
