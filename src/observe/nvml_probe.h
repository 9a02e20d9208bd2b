#pragma once

#include <memory>
#include <vector>

#include "machine/gpu/nvml.h"
#include "observe/probe.h"

namespace tandem {

/// Reads use, memory, power, temperature, SM and memory clocks of GPUs, the number of compute processes on them, and
/// the reasons for lowered clocks (measure/profile/telemetry.h). Null without GPUs, or if `library` cannot be loaded.
std::unique_ptr<Probe> nvmlProbe(std::vector<ProbedGpu> gpus, const char* library = nvmlLibrary);

}  // namespace tandem
