#pragma once

#include <cstdint>
#include <string>

#include "device/captured_graph.h"
#include "run/plan/setup.h"

namespace tandem {

/// Whether each replica's step is captured and launched as CUDA graphs.
struct CudaGraphPolicy {
  bool on = false;
  std::string why;  ///< off: the reason; on: why the exchange is not captured, empty if it is
};

/// Decides --cuda-graph. If it is required but not possible, this does not throw; checkSetup() refuses.
CudaGraphPolicy cudaGraphPolicy(const Config& config, const Setup& setup);

/// Makes what captures a replica's step, and what times the kernels between which it chooses. Empty: steps run eagerly.
GraphRecorder graphRecorder(const Config& config, const Setup& setup);

/// "on", "on, in parts: why", "on, up to the exchange: why" (without overlap) or "off: why". Empty on a CPU.
std::string cudaGraphText(const Config& config, const Setup& setup);

/// Least number of warm-up steps for any --warmup. It is above 0 if a profile needs the step's capture to come first.
int64_t fewestWarmup(const Config& config, const Setup& setup);

}  // namespace tandem
