#pragma once

#include <cstdint>

namespace tandem {

/// The instruction sets that sources in folders isa/ are built for, all three of them, by cmake/Rooms.cmake
/// (kernels/simd/vector.h says how).
enum class Isa { plain, avx2, avx512 };

/// fp32 values per vector.
constexpr int vectorLanesOf(Isa vectors) { return vectors == Isa::avx512 ? 16 : 8; }

/// The widest instruction set of this processor.
Isa widestIsa();

/// fp32 values per vector in this processor's kernels: 16 with AVX-512, else 8.
int64_t vectorLanes();

/// The functions of an isa/ source for this processor. `Kernels` is a struct of pointers to them; each build of the
/// source defines its own with<TANDEM_ISA>().
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
