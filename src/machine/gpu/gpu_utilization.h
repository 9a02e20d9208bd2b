#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "machine/gpu/gpu_facts.h"
#include "machine/gpu/nvml.h"

namespace tandem {

/// What a GPU is used for by others while this program has nothing on it. Empty: it does not say.
struct GpuUse {
  std::string device;
  std::optional<double> percent, mebibytes, programs;
};

/// By NVML. Without `library` nothing is known.
std::vector<GpuUse> readGpuUse(std::span<const ProbedGpu> gpus, const char* library = nvmlLibrary);

/// As readGpuUse(), after waiting up to `patience` for GPUs to become idle: NVML's percentage is one of the last
/// second, and a run that has just ended is still in it. An idle GPU is not waited for.
std::vector<GpuUse> settledGpuUse(std::span<const ProbedGpu> gpus, Nanos patience = std::chrono::seconds(2),
                                  const char* library = nvmlLibrary);

/// "cuda:0 is busy: 71 % used, 2.0 GiB held, by 1 program" for each GPU that others compute on, use by more than 5 % or
/// hold more than 1 GiB of.
std::vector<std::string> busyLines(std::span<const GpuUse> uses);

/// The largest use by others of any GPU, 0 to 1; empty when none says.
std::optional<double> largestUse(std::span<const GpuUse> uses);

/// Why this process cannot compute on a GPU beside those that do, in one line; empty: it can.
std::string exclusionOf(const GpuFacts& gpu, const GpuUse& use);

/// Memory that others have not taken; all of it where that is not known.
int64_t freeBytes(const GpuFacts& gpu, const GpuUse& use);

}  // namespace tandem
