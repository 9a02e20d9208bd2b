#pragma once

#include <memory>
#include <vector>

#include "machine/gpu/nvml.h"
#include "observe/probe.h"

namespace tandem {

/// Use, memory, power, temperature, SM and memory clocks of GPUs, the number of programs that compute on them, and what
/// slows them (measure/profile/telemetry.h). Null without GPUs, or when `library` cannot be loaded.
std::unique_ptr<Probe> nvmlProbe(std::vector<ProbedGpu> gpus, const char* library = nvmlLibrary);

}  // namespace tandem
