#include "machine/gpu/gpu_facts.h"

#include <cuda_runtime_api.h>

#include <cstdlib>

namespace tandem {
namespace {

int attribute(cudaDeviceAttr name, int ordinal) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, name, ordinal) == cudaSuccess ? value : 0;
}

/// Reads one GPU. Returns the error of the first call that failed.
cudaError_t read(int ordinal, GpuFacts& gpu) {
  cudaDeviceProp properties{};
  if (const auto failure = cudaGetDeviceProperties(&properties, ordinal); failure != cudaSuccess) return failure;
  char busId[32] = {};
  if (const auto failure = cudaDeviceGetPCIBusId(busId, sizeof busId, ordinal); failure != cudaSuccess) return failure;
  const int mode = attribute(cudaDevAttrComputeMode, ordinal);
  gpu = {.name = properties.name,
         .memoryBytes = static_cast<int64_t>(properties.totalGlobalMem),
         .pciBusId = busId,
         .capability = 10 * properties.major + properties.minor,
         .prohibited = mode == cudaComputeModeProhibited,
         .exclusive = mode == cudaComputeModeExclusive || mode == cudaComputeModeExclusiveProcess,
         .multiprocessors = attribute(cudaDevAttrMultiProcessorCount, ordinal),
         .coreKilohertz = attribute(cudaDevAttrClockRate, ordinal),
         .memoryKilohertz = attribute(cudaDevAttrMemoryClockRate, ordinal),
         .memoryBusBits = attribute(cudaDevAttrGlobalMemoryBusWidth, ordinal)};
  return cudaSuccess;
}

cudaError_t readAll(std::vector<GpuFacts>& gpus) {
  int count = 0;
  const auto failure = cudaGetDeviceCount(&count);
  if (failure == cudaErrorNoDevice) return cudaSuccess;
  if (failure != cudaSuccess) return failure;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    if (const auto unread = read(ordinal, gpus.emplace_back()); unread != cudaSuccess) return unread;
  }
  return cudaSuccess;
}

CudaFacts readFacts() {
  CudaFacts facts;
  facts.built = true;
  cudaRuntimeGetVersion(&facts.runtimeVersion);
  if (cudaDriverGetVersion(&facts.driverVersion) != cudaSuccess) facts.driverVersion = 0;
  if (const auto failure = readAll(facts.gpus); failure != cudaSuccess) facts.failure = cudaGetErrorString(failure);
  if (!facts.failure.empty()) facts.gpus.clear();
  cudaGetLastError();  // clears the error, so that libtorch's next call does not report it
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) facts.visible = visible;
  facts.libtorch = architecturesOfFlags(TANDEM_LIBTORCH_FLAGS);
  facts.kernels = architecturesOfList(TANDEM_CUDA_ARCHITECTURES);
  return facts;
}

}  // namespace

const CudaFacts& cudaFacts() {
  static const CudaFacts facts = readFacts();
  return facts;
}

}  // namespace tandem
