#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "machine/gpu/gpu_facts.h"
#include "machine/gpu/nvml.h"

namespace tandem {

/// Use of a GPU by others, while this program uses none of it. Empty: the driver does not report it.
struct GpuUse {
  std::string device;
  std::optional<double> percent, mebibytes, programs;
};

/// Reads the use by NVML. Without `library` everything is unknown.
std::vector<GpuUse> readGpuUse(std::span<const ProbedGpu> gpus, const char* library = nvmlLibrary);

/// Like readGpuUse(), after waiting up to `patience` for busy GPUs to become idle. NVML's percentage covers the last
/// second, so a run that has just ended still shows.
std::vector<GpuUse> settledGpuUse(std::span<const ProbedGpu> gpus, Nanos patience = std::chrono::seconds(2),
                                  const char* library = nvmlLibrary);

/// Returns "cuda:0 is busy: 71 % used, 2.0 GiB held, by 1 program" for each busy GPU. A GPU is busy if others compute
/// on it, use more than 5 % of it or hold more than 1 GiB.
std::vector<std::string> busyLines(std::span<const GpuUse> uses);

/// The largest use by others over all GPUs, 0 to 1. Empty if no driver reports it.
std::optional<double> largestUse(std::span<const GpuUse> uses);

/// Why this process cannot share a GPU with the processes on it, in one line. Empty: it can.
std::string exclusionOf(const GpuFacts& gpu, const GpuUse& use);

/// Memory that others have not taken. All memory if that is not known.
int64_t freeBytes(const GpuFacts& gpu, const GpuUse& use);

}  // namespace tandem
