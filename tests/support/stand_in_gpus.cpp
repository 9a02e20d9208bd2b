#include <cstdlib>

#include "machine/gpu/gpu_facts.h"

namespace tandem {

/// Takes the place of the facts of a build without CUDA: as many GPUs as TANDEM_STAND_IN_GPUS says, which can be
/// planned for and not used.
const CudaFacts& cudaFacts() {
  static const CudaFacts facts = [] {
    const char* count = std::getenv("TANDEM_STAND_IN_GPUS");
    CudaFacts found;
    found.built = true;
    found.runtimeVersion = found.driverVersion = 13000;
    const GpuFacts gpu{.name = "Stand-in",
                       .memoryBytes = int64_t{64} << 30,
                       .pciBusId = "00000000:00:00.0",
                       .capability = 90,
                       .multiprocessors = 1,
                       .coreKilohertz = 1'000'000,
                       .memoryKilohertz = 1'000'000,
                       .memoryBusBits = 1024};
    found.gpus.assign(count == nullptr ? 0 : std::strtoul(count, nullptr, 10), gpu);
    return found;
  }();
  return facts;
}

}  // namespace tandem
