#include "base/error.h"
#include "device/cuda_properties.h"

namespace tandem {

bool builtWithCuda() { return false; }

std::string cudaDeviceName(int) { throw InternalError("cudaDeviceName: this build has no CUDA"); }

}  // namespace tandem
