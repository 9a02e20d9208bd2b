#pragma once

#include <span>
#include <string>
#include <vector>

#include "machine/gpu/nvml.h"
#include "measure/record/environment.h"

namespace tandem {

/// Links of GPUs among themselves and to the host.
struct GpuLinks {
  std::vector<GpuLink> pairs;  ///< every pair, with the lower ordinal first
  std::vector<GpuSlot> slots;  ///< one per GPU
};

/// Reads the links of `gpus` by NVML, in the order of their ordinals. Creates no context. Empty if `library` cannot be
/// loaded.
GpuLinks readGpuLinks(std::span<const ProbedGpu> gpus, const char* library = nvmlLibrary);

/// Links of all GPUs that this process sees, read once.
const GpuLinks& gpuLinks();

/// The paths between every two of these GPUs, each kind once: "PIX" or "PIX, PHB". Empty for one GPU.
std::string pathsAmong(const GpuLinks& links, std::span<const int> ordinals);

/// The lines shown before a run. They hold the paths between the GPUs of `ordinals` as a matrix, whether the GPUs can
/// access each other's memory, and each PCIe link. Empty without GPUs. One GPU has no matrix.
std::vector<std::string> linkLines(const GpuLinks& links, std::span<const int> ordinals);

}  // namespace tandem
