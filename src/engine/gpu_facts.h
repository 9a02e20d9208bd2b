#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tandem {

struct GpuFacts {
  std::string name;
  int64_t memoryBytes = 0;
  std::string pciBusId;  ///< "00000000:17:00.0"
};

/// The GPUs this process sees, by ordinal. Creates no context. Empty in a build without CUDA.
std::vector<GpuFacts> gpuFacts();

/// Versions of the CUDA libraries in use. Empty in a build without CUDA.
std::map<std::string, std::string> gpuLibraries();

}  // namespace tandem
