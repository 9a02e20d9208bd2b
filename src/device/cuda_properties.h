#pragma once

#include <string>

namespace tandem {

/// Whether this build links CUDA. (Whether there is a GPU: cudaDeviceCount().)
bool builtWithCuda();

/// The product name of a GPU, "NVIDIA H200". Throws InternalError in a build without CUDA.
std::string cudaDeviceName(int index);

}  // namespace tandem
