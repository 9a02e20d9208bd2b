#pragma once

#include <unistd.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "machine/cpu/topology.h"
#include "machine/gpu/gpu_utilization.h"
#include "machine/process/process_times.h"
#include "measure/record/record.h"
#include "observe/sampler.h"

namespace tandem {

/// Names among the phases of telemetry: the measured window, of a training its steps; and its checkpoints. Its
/// evaluations have the names of their splits.
inline constexpr const char *trainingPhase = "training", *savingPhase = "saving";

/// Observes one run: telemetry over its whole length, and disturbances in its measured window. One thread at a time
/// calls the methods, in their order below.
class RunObserver {
 public:
  /// Starts the sampling of the CPUs that the host's replicas are pinned to, or of all CPUs of the process if there are
  /// none. `gpus`: ordinals. `before`: use of these GPUs by other programs before the run. `processes`: of the run on
  /// this host; none: another of them samples.
  RunObserver(const CorePlan& cores, std::span<const int> gpus, std::vector<GpuUse> before,
              std::vector<int> processes = {getpid()});

  /// Names more processes of the run: they feed it. Asked at the window's end.
  void fedBy(std::function<std::vector<int>()> processes) { feeders_ = std::move(processes); }
  void warmUpBegins();
  void windowBegins();
  /// Begins a phase within the window, of the telemetry alone. It lasts until the next.
  void enter(const std::string& phase) { sampler_.enter(phase); }
  void windowEnds();
  /// Most bytes that the processes which feed the run had in memory until the window's end, together.
  int64_t feedersPeak() const { return feedersPeak_; }
  /// CPU time of this process and of those that feed it in the window; 0 if the system does not count it.
  Nanos ownTime() const;
  /// The same of all ranks on this host, which are no other programs to one another.
  void ranksUsed(Nanos time);
  /// Ends the sampling. Fills interference, telemetry, energy, and notes on unequal clocks and on other programs.
  void fill(RunRecord& record);

 private:
  SystemCounters counters();

  std::vector<int> cpus_, processes_;
  std::function<std::vector<int>()> feeders_;
  int64_t feedersPeak_ = 0;
  std::vector<ProcessTime> timesBefore_;  // at the window's begin
  Sampler sampler_;
  std::vector<GpuUse> before_;
  WindowCounters window_;
};

}  // namespace tandem
