#include "kernels/optimizer/rmsprop_kernel.h"
#include "kernels/simd/target_clones.h"

namespace tandem::cpu {
namespace {

template <bool hasMomentum, class W, class G>
TANDEM_INLINE void update(const RmspropArguments& a, W* __restrict weights, const G* __restrict gradient, int64_t first,
                          int64_t last) {
  float* __restrict master = a.master;
  float* __restrict square = a.square;
  float* __restrict velocity = a.velocity;
  const RmspropCoefficients c = *a.step;  // a copy: the compiler then knows that the stores below do not change it
  const float scale = c.scale * factorAt(c.clip);
  for (int64_t i = first; i < last; ++i) {
    const float g = scale * toFloat(gradient[i]) + c.weightDecay * master[i];
    const float v = c.decay * square[i] + c.gain * (g * g);
    float direction = g / (__builtin_sqrtf(v) + c.epsilon);
    if constexpr (hasMomentum) {
      direction = c.momentum * velocity[i] + direction;
      velocity[i] = direction;
    }
    const float w = master[i] - c.rate * direction;
    square[i] = v;
    master[i] = w;
    if constexpr (!__is_same(W, void)) weights[i] = fromFloat<W>(w);
  }
}

}  // namespace

TANDEM_CLONES void rmspropUpdate(const RmspropArguments& a, int64_t first, int64_t last) {
  withTypes(a, [&](auto* weights, const auto* gradient) TANDEM_INLINE_LAMBDA {
    if (!a.velocity || a.step->momentum == 0) return update<false>(a, weights, gradient, first, last);
    update<true>(a, weights, gradient, first, last);
  });
}

}  // namespace tandem::cpu
