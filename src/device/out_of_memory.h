#pragma once

#include <exception>

namespace tandem {

/// Whether the failure is a refused allocation by Tandem, the C++ runtime, libtorch (CPU or GPU), cuDNN or cuBLAS.
bool isOutOfMemory(const std::exception& failure);

}  // namespace tandem
