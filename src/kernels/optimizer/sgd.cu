#include "kernels/gpu/launch.cuh"
#include "kernels/optimizer/sgd_kernel.h"

namespace tandem::gpu {
namespace {

template <class W, class G>
__global__ void sgdKernel(SgdArguments a, int64_t count) {
  const SgdCoefficients c = *a.step;
  if (c.overflow != nullptr && *c.overflow != 0) return;
  const bool hasMomentum = a.velocity != nullptr && c.momentum != 0;
  const float trust = factorAt(a.trust), decay = c.weightDecay * trust, scale = c.scale * factorAt(c.clip) * trust;
  for (int64_t i = firstElement(); i < count; i += allThreads()) {
    const float g = scale * widen(static_cast<const G*>(a.gradient)[i]) + decay * a.master[i];
    float direction = g;
    if (hasMomentum) {
      const float v = c.momentum * a.velocity[i] + g;
      a.velocity[i] = v;
      direction = c.nesterov ? g + c.momentum * v : v;
    }
    const float w = a.master[i] - c.rate * direction;
    a.master[i] = w;
    if (a.weights) static_cast<W*>(a.weights)[i] = narrow<W>(w);
  }
}

}  // namespace

void sgdUpdate(const SgdArguments& a, int64_t count, void* stream) {
  const auto kernel = withType(
      a.gradientType, [&]<class G>(G) { return withType(a.weightType, []<class W>(W) { return sgdKernel<W, G>; }); });
  launch(kernel, count, stream, a, count);
}

}  // namespace tandem::gpu
