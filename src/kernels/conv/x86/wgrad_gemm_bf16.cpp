#include <immintrin.h>

#include "kernels/conv/wgrad_gemm_kernel.h"

// Compiled for AVX512_BF16 (src/CMakeLists.txt), so nothing here may be shared with other sources: all is inlined.
namespace tandem::packed {
namespace {

using vector_detail::Halves, vector_detail::Words;

/// A word holds the bf16 values of two places.
struct Bf16Pairs {
  using Value = Bf16;
  using Word = uint32_t;
  using Vector = __m512bh;
  static constexpr int places = 2;

  static TANDEM_INLINE Vector words(const uint32_t* from) { return reinterpret_cast<Vector>(_mm512_loadu_si512(from)); }
  static TANDEM_INLINE Vector spread(uint32_t word) {
    return reinterpret_cast<Vector>(_mm512_set1_epi32(static_cast<int>(word)));
  }
  static TANDEM_INLINE Floats add(Floats sum, Vector a, Vector b) {
    return reinterpret_cast<Floats>(_mm512_dpbf16_ps(reinterpret_cast<__m512>(sum), a, b));
  }

  static TANDEM_INLINE void pack(const Bf16* const (&from)[2], int64_t count, uint32_t* to) {
    const auto wide = [](const Bf16* all) TANDEM_INLINE_LAMBDA {
      Halves halves;
      std::memcpy(&halves, all, sizeof(halves));
      return __builtin_convertvector(halves, Words);
    };
    const Words pair = whole(from[0], count, wide) | whole(from[1], count, wide) << 16;
    std::memcpy(to, &pair, sizeof(pair));
  }
};

}  // namespace

void cpu::sumsOfBf16(const WeightGradient& g, int64_t first, int64_t last, void* scratch) {
  sums<Bf16Pairs>(g, first, last, scratch);
}

}  // namespace tandem::packed
