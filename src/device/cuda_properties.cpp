#include "device/cuda_properties.h"

#include <cuda_runtime_api.h>

#include "base/error.h"
#include "base/text.h"

namespace tandem {

bool builtWithCuda() { return true; }

std::string cudaDeviceName(int index) {
  cudaDeviceProp properties{};
  const cudaError_t failure = cudaGetDeviceProperties(&properties, index);
  if (failure != cudaSuccess) throw InternalError(concat("cuda:", index, ": ", cudaGetErrorString(failure)));
  return properties.name;
}

}  // namespace tandem
