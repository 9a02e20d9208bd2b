#include "kernels/conv/wgrad_gemm.h"
#include "kernels/simd/isa_dispatch.h"

namespace tandem::packed {

// Not beside the code that it guards: that source is compiled with instructions that other processors lack.
bool cpu::takesBf16() { return usedIsa() == Isa::avx512 && __builtin_cpu_supports("avx512bf16"); }

}  // namespace tandem::packed
