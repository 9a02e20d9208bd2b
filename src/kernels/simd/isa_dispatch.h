#pragma once

#include <cstdint>

namespace tandem {

/// For which instructions a source NAME_lanes.cpp is built: all three, by src/CMakeLists.txt, as kernels/simd/vector.h
/// says.
enum class Isa { plain, avx2, avx512 };

/// fp32 values of one vector.
constexpr int vectorLanesOf(Isa vectors) { return vectors == Isa::avx512 ? 16 : 8; }

/// What this processor has.
Isa widestIsa();

/// fp32 values that the kernels of this processor take as one vector: 16 with AVX-512, else 8.
int64_t vectorLanes();

/// The functions of a source NAME_lanes.cpp for this processor. `Kernels` is a struct of pointers to them; that source
/// defines its with<TANDEM_ISA>().
template <class Kernels>
const Kernels& isaKernels() {
  static const Kernels chosen = [] {
    switch (widestIsa()) {
      case Isa::avx512:
        return Kernels::template with<Isa::avx512>();
      case Isa::avx2:
        return Kernels::template with<Isa::avx2>();
      default:
        return Kernels::template with<Isa::plain>();
    }
  }();
  return chosen;
}

}  // namespace tandem
