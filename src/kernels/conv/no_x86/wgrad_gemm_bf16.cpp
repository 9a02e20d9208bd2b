#include "base/error.h"
#include "kernels/conv/wgrad_gemm.h"

namespace tandem::packed {

bool cpu::takesBf16() { return false; }

void cpu::sumsOfBf16(const WeightGradient&, int64_t, int64_t, void*) { check(false, "sumsOfBf16: takesBf16()"); }

}  // namespace tandem::packed
