#pragma once

#include <cstdint>

namespace tandem {

/// For which instructions a source NAME_lanes.cpp is built: all three, by src/CMakeLists.txt, as kernels/simd/vector.h
/// says.
enum class Vectors { plain, avx2, avx512 };

/// fp32 values of one vector.
constexpr int lanesWith(Vectors vectors) { return vectors == Vectors::avx512 ? 16 : 8; }

/// What this processor has.
Vectors widestVectors();

/// fp32 values that the kernels of this processor take as one vector: 16 with AVX-512, else 8.
int64_t vectorLanes();

/// The functions of a source NAME_lanes.cpp for this processor. `Kernels` is a struct of pointers to them; that source
/// defines its with<TANDEM_VECTORS>().
template <class Kernels>
const Kernels& kernelsOfLanes() {
  static const Kernels chosen = [] {
    switch (widestVectors()) {
      case Vectors::avx512:
        return Kernels::template with<Vectors::avx512>();
      case Vectors::avx2:
        return Kernels::template with<Vectors::avx2>();
      default:
        return Kernels::template with<Vectors::plain>();
    }
  }();
  return chosen;
}

}  // namespace tandem
