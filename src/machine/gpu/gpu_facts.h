#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

/// Code in a library for one compute capability. `capability` is ten times its number: 86 is 8.6.
struct Architecture {
  int capability = 0;
  bool machineCode = false;  ///< runs on this capability and newer ones of the same major number
  bool portable = false;     ///< PTX: the driver compiles it for this and every newer capability

  bool operator==(const Architecture&) const = default;
};

/// Parses nvcc's flags ("arch=compute_80,code=sm_80"), which libtorch reports for its build.
std::vector<Architecture> architecturesOfFlags(std::string_view flags);

/// Parses a value of CMAKE_CUDA_ARCHITECTURES, with numbers separated by blanks or semicolons ("80-real 120").
std::vector<Architecture> architecturesOfList(std::string_view list);

/// Whether code for `architectures` runs on a GPU. True if they are not known.
bool runsOn(std::span<const Architecture> architectures, int capability);

/// "7.5, 8.0 and 9.0", plus "and newer" if PTX is among them.
std::string capabilitiesText(std::span<const Architecture> architectures);

/// "8.6" from 86.
std::string capabilityText(int capability);

struct GpuFacts {
  std::string name;
  int64_t memoryBytes = 0;
  std::string pciBusId;     ///< "00000000:17:00.0"
  int capability = 0;       ///< 86: compute capability 8.6
  bool prohibited = false;  ///< its compute mode forbids computing
  bool exclusive = false;   ///< its compute mode allows one process at a time
  int multiprocessors = 0;
  int64_t coreKilohertz = 0, memoryKilohertz = 0;  ///< highest clocks
  int memoryBusBits = 0;
};

/// Facts about CUDA on this machine that need no context. Versions are written as in CUDA: 13020 is 13.2.
struct CudaFacts {
  bool built = false;                  ///< whether this build links CUDA
  int runtimeVersion = 0;              ///< version that this build links
  int driverVersion = 0;               ///< newest version that the driver supports; 0: there is no driver
  std::string failure;                 ///< CUDA's error text if the GPUs cannot be listed; else empty
  std::vector<GpuFacts> gpus;          ///< visible to this process, by ordinal
  std::optional<std::string> visible;  ///< CUDA_VISIBLE_DEVICES
  /// Architectures in libtorch and in Tandem's own kernels; empty: not known.
  std::vector<Architecture> libtorch, kernels;
};

/// Facts of this process, read once. Creates no context.
const CudaFacts& cudaFacts();

}  // namespace tandem
