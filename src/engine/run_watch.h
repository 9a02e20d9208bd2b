#pragma once

#include <vector>

#include "engine/gpu_use.h"
#include "engine/plan.h"
#include "engine/sampler.h"
#include "measure/record.h"

namespace tandem {

/// Name of the measured window among the phases of telemetry.
inline constexpr const char* trainingPhase = "training";

/// Watches one run from the side: telemetry over its whole length, and what disturbed its measured window. Called by
/// one thread at a time, in the order of the methods.
class RunWatch {
 public:
  /// Starts the sampling, of the plan's CPUs and GPUs. `before`: what others did on these before the run touched them.
  RunWatch(const RunPlan& plan, std::vector<GpuUse> before);

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
