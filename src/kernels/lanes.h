#pragma once

#include <cstdint>

namespace tandem {

/// For which instructions a source NAME_lanes.cpp is built: all three, by src/CMakeLists.txt, as kernels/vector.h says.
enum class Vectors { plain, avx2, avx512 };

/// What this processor has.
Vectors widestVectors();

/// fp32 values that the kernels of this processor take as one vector: 16 with AVX-512, else 8.
int64_t vectorLanes();

/// The functions of a source NAME_lanes.cpp for this processor. `Kernels` is a struct of pointers to them; that source
/// defines its with<TANDEM_VECTORS>().
template <class Kernels>
const Kernels& kernelsOfLanes() {
  static const Kernels chosen = widestVectors() == Vectors::avx512 ? Kernels::template with<Vectors::avx512>()
                                : widestVectors() == Vectors::avx2 ? Kernels::template with<Vectors::avx2>()
                                                                   : Kernels::template with<Vectors::plain>();
  return chosen;
}

}  // namespace tandem
