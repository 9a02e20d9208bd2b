#pragma once

#include <span>
#include <vector>

#include "machine/cpu/topology.h"
#include "machine/gpu/gpu_utilization.h"
#include "measure/record/record.h"
#include "observe/sampler.h"

namespace tandem {

/// Name of the measured window among the phases of telemetry.
inline constexpr const char* trainingPhase = "training";

/// Watches one run from the side: telemetry over its whole length, and what disturbed its measured window. Called by
/// one thread at a time, in the order of the methods.
class RunObserver {
 public:
  /// Starts the sampling, of the CPUs that replicas are pinned to, or of all that the process may use if they are not.
  /// `gpus`: ordinals. `before`: what other programs did on these GPUs before the run touched them.
  RunObserver(const CorePlan& cores, std::span<const int> gpus, std::vector<GpuUse> before);

  void warmUpBegins();
  void windowBegins();
  void windowEnds();
  /// Ends the sampling; interference, telemetry, energy and the notes on unequal clocks and on other programs.
  void fill(RunRecord& record);

 private:
  SystemCounters counters();

  std::vector<int> cpus_;
  Sampler sampler_;
  std::vector<GpuUse> before_;
  WindowCounters window_;
};

}  // namespace tandem
