#pragma once

#include <cstdint>
#include <string_view>

namespace tandem {

/// The instruction sets that sources in folders isa/ are built for, all three of them, by cmake/Rooms.cmake
/// (kernels/simd/vector.h says how).
enum class Isa { plain, avx2, avx512 };

/// fp32 values per vector.
constexpr int vectorLanesOf(Isa vectors) { return vectors == Isa::avx512 ? 16 : 8; }

/// "plain", "avx2" or "avx512".
std::string_view nameOf(Isa isa);

/// The widest instruction set of this processor.
Isa widestIsa();

/// The instruction set that `named` asks for, on a processor whose widest is `widest`; null: the widest. Throws
/// UsageError for an unknown name, and for one that the processor lacks.
Isa isaFor(const char* named, Isa widest);

/// The instruction set of the kernels of this process: the widest, or the one that the environment variable
/// TANDEM_VECTORS names. So tests run each build on any processor that has it. Throws as isaFor().
Isa usedIsa();

/// fp32 values per vector in the kernels of this process: 16 with AVX-512, else 8.
int64_t vectorLanes();

/// The functions of an isa/ source for usedIsa(). `Kernels` is a struct of pointers to them; each build of the source
/// defines its own with<TANDEM_ISA>().
template <class Kernels>
const Kernels& isaKernels() {
  static const Kernels chosen = [] {
    switch (usedIsa()) {
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
