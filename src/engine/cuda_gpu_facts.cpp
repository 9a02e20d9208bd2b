#include <ATen/detail/CUDAHooksInterface.h>
#include <cuda_runtime_api.h>

#include "base/text.h"
#include "engine/gpu_facts.h"

namespace tandem {
namespace {

std::string cudaVersion(int version) { return concat(version / 1000, '.', version % 1000 / 10); }

}  // namespace

std::vector<GpuFacts> gpuFacts() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return {};
  std::vector<GpuFacts> facts;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, ordinal) != cudaSuccess) return facts;
    char busId[32] = {};
    if (cudaDeviceGetPCIBusId(busId, sizeof busId, ordinal) != cudaSuccess) return facts;
    facts.push_back({properties.name, static_cast<int64_t>(properties.totalGlobalMem), busId});
  }
  return facts;
}

std::map<std::string, std::string> gpuLibraries() {
  std::map<std::string, std::string> versions;
  int version = 0;
  if (cudaRuntimeGetVersion(&version) == cudaSuccess) versions["cuda"] = cudaVersion(version);
  if (cudaDriverGetVersion(&version) == cudaSuccess && version > 0) versions["cuda-driver-api"] = cudaVersion(version);
  if (at::detail::getCUDAHooks().compiledWithCuDNN()) {
    const auto cudnn = at::detail::getCUDAHooks().versionRuntimeCuDNN();
    versions["cudnn"] = concat(cudnn / 10000, '.', cudnn / 100 % 100, '.', cudnn % 100);
  }
  return versions;
}

}  // namespace tandem
