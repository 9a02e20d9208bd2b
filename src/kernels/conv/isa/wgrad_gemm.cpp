#include "kernels/conv/wgrad_gemm_kernel.h"

namespace tandem::packed {
namespace {

struct Fp32Places : Fp32Step {
  using Value = float;
  static constexpr int places = 1;
  static TANDEM_INLINE void pack(const float* const (&from)[1], int64_t count, float* to) {
    whole(from[0], count, [=](const float* all) TANDEM_INLINE_LAMBDA { store(to, load<Floats>(all)); });
  }
};

void sumsOfFp32(const WeightGradient& g, int64_t first, int64_t last, void* scratch) {
  sums<Fp32Places>(g, first, last, scratch);
}

}  // namespace

template <>
Kernels Kernels::with<Isa::TANDEM_ISA>() {
  return {sumsOfFp32};
}

}  // namespace tandem::packed
