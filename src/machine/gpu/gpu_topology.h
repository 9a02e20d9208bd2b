#pragma once

#include <span>
#include <string>
#include <vector>

#include "machine/gpu/nvml.h"
#include "measure/record/environment.h"

namespace tandem {

/// How GPUs are connected among themselves and to the host.
struct GpuLinks {
  std::vector<GpuLink> pairs;  ///< all, the lower ordinal first
  std::vector<GpuSlot> slots;  ///< one per GPU
};

/// By NVML, of `gpus` in the order of their ordinals. Creates no context. Empty when `library` cannot be loaded.
GpuLinks readGpuLinks(std::span<const ProbedGpu> gpus, const char* library = nvmlLibrary);

/// Of all GPUs that this process sees, read once.
const GpuLinks& gpuLinks();

/// The lines shown before a run: the paths between the GPUs of `ordinals` as a matrix, whether they reach each other's
/// memory, and each one's PCIe. None without GPUs; one GPU has no matrix.
std::vector<std::string> linkLines(const GpuLinks& links, std::span<const int> ordinals);

}  // namespace tandem
