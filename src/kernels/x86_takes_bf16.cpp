#include "kernels/packed_product.h"

namespace tandem::packed {

// Here, and not beside what it guards: that source is built for such processors alone.
bool cpu::takesBf16() { return __builtin_cpu_supports("avx512bf16"); }

}  // namespace tandem::packed
