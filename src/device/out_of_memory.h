#pragma once

#include <exception>

namespace tandem {

/// Whether memory was refused, whichever library says so: Tandem, the C++ runtime, libtorch on a CPU or a GPU, cuDNN,
/// cuBLAS.
bool isOutOfMemory(const std::exception& failure);

}  // namespace tandem
