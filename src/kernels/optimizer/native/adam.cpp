#include "kernels/optimizer/adam_kernel.h"
#include "kernels/simd/target_clones.h"

namespace tandem::cpu {
namespace {

template <class W, class G>
TANDEM_INLINE void update(const AdamArguments& a, W* __restrict weights, const G* __restrict gradient, int64_t first,
                          int64_t last) {
  float* __restrict master = a.master;
  float* __restrict mean = a.mean;
  float* __restrict square = a.square;
  const AdamCoefficients c = *a.step;  // a copy: the compiler then knows that the stores below do not change it
  const float scale = c.scale * factorAt(c.clip);
  for (int64_t i = first; i < last; ++i) {
    const float g = scale * toFloat(gradient[i]) + c.decay * master[i];
    const float m = c.beta1 * mean[i] + c.gain1 * g;
    const float v = c.beta2 * square[i] + c.gain2 * (g * g);
    const float w = c.keep * master[i] - c.rate * m / (c.spread * __builtin_sqrtf(v) + c.epsilon);
    mean[i] = m;
    square[i] = v;
    master[i] = w;
    if constexpr (!__is_same(W, void)) weights[i] = fromFloat<W>(w);
  }
}

template <class G>
TANDEM_INLINE void direct(const AdamArguments& a, const G* __restrict gradient, float* __restrict direction,
                          int64_t first, int64_t last) {
  const float* __restrict master = a.master;
  float* __restrict mean = a.mean;
  float* __restrict square = a.square;
  const AdamCoefficients c = *a.step;
  const float scale = c.scale * factorAt(c.clip);
  for (int64_t i = first; i < last; ++i) {
    const float g = scale * toFloat(gradient[i]);
    const float m = c.beta1 * mean[i] + c.gain1 * g;
    const float v = c.beta2 * square[i] + c.gain2 * (g * g);
    direction[i] = c.rate * m / (c.spread * __builtin_sqrtf(v) + c.epsilon) + c.decay * master[i];
    mean[i] = m;
    square[i] = v;
  }
}

}  // namespace

TANDEM_CLONES void adamUpdate(const AdamArguments& a, int64_t first, int64_t last) {
  withTypes(
      a, [&](auto* weights, const auto* gradient) TANDEM_INLINE_LAMBDA { update(a, weights, gradient, first, last); });
}

TANDEM_CLONES void lambDirection(const AdamArguments& a, float* direction, int64_t first, int64_t last) {
  withElement(a.gradientType, [&](auto kind) TANDEM_INLINE_LAMBDA {
    direct(a, static_cast<const decltype(kind)*>(a.gradient), direction, first, last);
  });
}

}  // namespace tandem::cpu
