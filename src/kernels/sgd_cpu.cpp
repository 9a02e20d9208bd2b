#include "kernels/clones.h"
#include "kernels/sgd_bodies.h"

namespace tandem::cpu {
namespace {

enum class Rule { plain, momentum, nesterov };

// W void: the weights are the master.
template <Rule rule, class W, class G>
TANDEM_INLINE void update(const SgdArguments& a, int64_t first, int64_t last) {
  float* __restrict master = a.master;
  float* __restrict velocity = a.velocity;
  W* __restrict weights = static_cast<W*>(a.weights);
  const G* __restrict gradient = static_cast<const G*>(a.gradient);
  const float rate = a.step.rate, momentum = a.step.momentum, decay = a.step.weightDecay, scale = a.step.scale;
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

template <class W, class G>
TANDEM_INLINE void byRule(const SgdArguments& a, int64_t first, int64_t last) {
  if (!a.velocity) return update<Rule::plain, W, G>(a, first, last);
  if (a.step.nesterov) return update<Rule::nesterov, W, G>(a, first, last);
  return update<Rule::momentum, W, G>(a, first, last);
}

template <class G>
TANDEM_INLINE void byWeights(const SgdArguments& a, int64_t first, int64_t last) {
  if (!a.weights) return byRule<void, G>(a, first, last);
  if (a.weightType == Element::fp32) return byRule<float, G>(a, first, last);
  return byRule<Bf16, G>(a, first, last);
}

}  // namespace

TANDEM_CLONES void sgdUpdate(const SgdArguments& a, int64_t first, int64_t last) {
  a.gradientType == Element::fp32 ? byWeights<float>(a, first, last) : byWeights<Bf16>(a, first, last);
}

}  // namespace tandem::cpu
