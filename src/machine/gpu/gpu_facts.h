#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

/// What a library holds for GPUs of one compute capability, written as ten times it: 86 is 8.6.
struct Architecture {
  int capability = 0;
  bool machineCode = false;  ///< for this capability and newer ones of the same major number
  bool portable = false;     ///< PTX, which the driver compiles for this and every newer capability

  bool operator==(const Architecture&) const = default;
};

/// From nvcc's flags ("arch=compute_80,code=sm_80"), as libtorch holds those that it was built with.
std::vector<Architecture> architecturesOfFlags(std::string_view flags);

/// From a value of CMAKE_CUDA_ARCHITECTURES, its numbers apart by blanks or semicolons ("80-real 120").
std::vector<Architecture> architecturesOfList(std::string_view list);

/// Whether code of `architectures` runs on a GPU; true where they are not known.
bool runsOn(std::span<const Architecture> architectures, int capability);

/// "7.5, 8.0 and 9.0", with "and newer" where PTX is among them.
std::string capabilitiesText(std::span<const Architecture> architectures);

/// "8.6" from 86.
std::string capabilityText(int capability);

struct GpuFacts {
  std::string name;
  int64_t memoryBytes = 0;
  std::string pciBusId;     ///< "00000000:17:00.0"
  int capability = 0;       ///< 86: compute capability 8.6
  bool prohibited = false;  ///< its compute mode lets nobody compute
  bool exclusive = false;   ///< its compute mode lets one process at a time compute
  int multiprocessors = 0;
  int64_t coreKilohertz = 0, memoryKilohertz = 0;  ///< the highest clocks
  int memoryBusBits = 0;
};

/// What is known of CUDA here before any context exists. Versions as CUDA writes them: 13020 is 13.2.
struct CudaFacts {
  bool built = false;                           ///< this build links CUDA
  int runtimeVersion = 0;                       ///< that this build links
  int driverVersion = 0;                        ///< the newest that the driver serves; 0: there is no driver
  std::string failure;                          ///< why the GPUs cannot be listed, in CUDA's words; empty: they are
  std::vector<GpuFacts> gpus;                   ///< that this process sees, by ordinal
  std::optional<std::string> visible;           ///< CUDA_VISIBLE_DEVICES
  std::vector<Architecture> libtorch, kernels;  ///< that libtorch and Tandem's own kernels hold; empty: not known
};

/// Of this process, read once. Creates no context.
const CudaFacts& cudaFacts();

}  // namespace tandem
