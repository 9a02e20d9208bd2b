#pragma once

#include <cstdint>
#include <string>

#include "config/config.h"

namespace tandem {

/// Whether each replica's step is recorded and launched as CUDA graphs.
struct CudaGraphPolicy {
  bool on = false;
  std::string why;  ///< where it is off: why; where it is on: why the exchange is not part of it; else empty
};

/// What --graph comes to. Throws UsageError where "on" cannot be. REQUIRES: names of `config` are checked.
CudaGraphPolicy cudaGraphPolicy(const Config& config);

/// "on", "on, in parts: why", without overlap "on, up to the exchange: why", or "off: why"; empty on a CPU, where there
/// is nothing to say.
std::string cudaGraphText(const Config& config);

/// Steps that warm-up takes at the least, whatever --warmup says: a profile whose step is recorded begins after that.
int64_t fewestWarmup(const Config& config);

}  // namespace tandem
