#include "kernels/gpu/launch.cuh"
#include "kernels/optimizer/rmsprop_kernel.h"

namespace tandem::gpu {
namespace {

template <class W, class G>
__global__ void rmspropKernel(RmspropArguments a, int64_t count) {
  const RmspropCoefficients c = *a.step;
  if (c.overflow != nullptr && *c.overflow != 0) return;
  const bool hasMomentum = a.velocity != nullptr && c.momentum != 0;
  const float scale = c.scale * factorAt(c.clip);
  for (int64_t i = firstElement(); i < count; i += allThreads()) {
    const float g = scale * widen(static_cast<const G*>(a.gradient)[i]) + c.weightDecay * a.master[i];
    const float v = c.decay * a.square[i] + c.gain * (g * g);
    float direction = g / (sqrtf(v) + c.epsilon);
    if (hasMomentum) {
      direction = c.momentum * a.velocity[i] + direction;
      a.velocity[i] = direction;
    }
    const float w = a.master[i] - c.rate * direction;
    a.square[i] = v;
    a.master[i] = w;
    if (a.weights) static_cast<W*>(a.weights)[i] = narrow<W>(w);
  }
}

}  // namespace

void rmspropUpdate(const RmspropArguments& a, int64_t count, void* stream) {
  const auto kernel = withType(a.gradientType, [&]<class G>(G) {
    return withType(a.weightType, []<class W>(W) { return rmspropKernel<W, G>; });
  });
  launch(kernel, count, stream, a, count);
}

}  // namespace tandem::gpu
