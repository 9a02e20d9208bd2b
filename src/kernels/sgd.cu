#include "kernels/cuda_launch.cuh"
#include "kernels/sgd_bodies.h"

namespace tandem::gpu {
namespace {

template <class W, class G>
__global__ void sgdKernel(SgdArguments a, int64_t count) {
  SgdStep step = a.step;
  if (step.scaled.scale != nullptr) {
    if (*step.scaled.overflow != 0) return;
    step.scale /= *step.scaled.scale;
  }
  for (int64_t i = firstElement(); i < count; i += allThreads()) {
    const float g = step.scale * widen(static_cast<const G*>(a.gradient)[i]) + step.weightDecay * a.master[i];
    float direction = g;
    if (a.velocity) {
      const float v = step.momentum * a.velocity[i] + g;
      a.velocity[i] = v;
      direction = step.nesterov ? g + step.momentum * v : v;
    }
    const float w = a.master[i] - step.rate * direction;
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
