#pragma once

#include <string>

#include "config/config.h"

namespace tandem {

/// Whether each replica's step is recorded and launched as a CUDA graph.
struct GraphUse {
  bool on = false;
  std::string why;  ///< not, where it is off
};

/// What --graph comes to. Throws UsageError where "on" cannot be. REQUIRES: names of `config` are checked.
GraphUse graphUse(const Config& config);

/// "on", or "off: why"; empty on a CPU, where there is nothing to say.
std::string graphText(const Config& config);

}  // namespace tandem
