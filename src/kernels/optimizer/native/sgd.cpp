#include "kernels/optimizer/sgd_kernel.h"
#include "kernels/simd/target_clones.h"

namespace tandem::cpu {
namespace {

enum class Rule { plain, momentum, nesterov };

template <Rule rule, class W, class G>
TANDEM_INLINE void update(const SgdArguments& a, W* __restrict weights, const G* __restrict gradient, int64_t first,
                          int64_t last) {
  float* __restrict master = a.master;
  float* __restrict velocity = a.velocity;
  const SgdCoefficients& c = *a.step;
  const float rate = c.rate, momentum = c.momentum;
  const float trust = factorAt(a.trust), decay = c.weightDecay * trust, scale = c.scale * factorAt(c.clip) * trust;
  for (int64_t i = first; i < last; ++i) {
    const float g = scale * toFloat(gradient[i]) + decay * master[i];
    float direction = g;
    if constexpr (rule != Rule::plain) {
      const float v = momentum * velocity[i] + g;
      velocity[i] = v;
      direction = rule == Rule::nesterov ? g + momentum * v : v;
    }
    const float w = master[i] - rate * direction;
    master[i] = w;
    if constexpr (!__is_same(W, void)) weights[i] = fromFloat<W>(w);
  }
}

}  // namespace

TANDEM_CLONES void sgdUpdate(const SgdArguments& a, int64_t first, int64_t last) {
  withTypes(a, [&](auto* weights, const auto* gradient) TANDEM_INLINE_LAMBDA {
    if (!a.velocity || a.step->momentum == 0) return update<Rule::plain>(a, weights, gradient, first, last);
    if (a.step->nesterov) return update<Rule::nesterov>(a, weights, gradient, first, last);
    update<Rule::momentum>(a, weights, gradient, first, last);
  });
}

}  // namespace tandem::cpu
