#pragma once

#include <cstdint>

namespace tandem {

/// fp32 values of a vector of this processor: 16 with AVX-512, else 8.
int64_t vectorLanes();

/// Functions of a source NAME_lanes.cpp, which is built for vectors of 8 and of 16 (kernels/vector.h): those for this
/// processor. `Kernels` is a struct of pointers to them, and its with<8>() and with<16>() are defined there.
template <class Kernels>
const Kernels& kernelsOfLanes() {
  static const Kernels chosen = vectorLanes() == 16 ? Kernels::template with<16>() : Kernels::template with<8>();
  return chosen;
}

}  // namespace tandem
