#pragma once

#include <cstdint>
#include <string>

#include "run/plan/setup.h"

namespace tandem {

/// Whether each replica's step is recorded and launched as CUDA graphs.
struct CudaGraphPolicy {
  bool on = false;
  std::string why;  ///< where it is off: why; where it is on: why the exchange is not part of it; else empty
};

/// What --cuda-graph comes to. Where it is off although it is required, rules.h refuses.
CudaGraphPolicy cudaGraphPolicy(const Config& config, const Setup& setup);

/// "on", "on, in parts: why", without overlap "on, up to the exchange: why", or "off: why"; empty on a CPU, where there
/// is nothing to say.
std::string cudaGraphText(const Config& config, const Setup& setup);

/// Steps that warm-up takes at the least, whatever --warmup says: a profile whose step is recorded begins after that.
int64_t fewestWarmup(const Config& config, const Setup& setup);

}  // namespace tandem
