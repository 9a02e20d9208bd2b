#include "kernels/conv/wgrad_gemm.h"
#include "kernels/simd/isa_dispatch.h"

namespace tandem::packed {

// Here, and not beside what it consistencyChecks: that source is built for such processors alone.
bool cpu::takesBf16() { return widestIsa() == Isa::avx512 && __builtin_cpu_supports("avx512bf16"); }

}  // namespace tandem::packed
