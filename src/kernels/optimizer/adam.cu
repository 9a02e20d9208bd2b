#include "kernels/gpu/launch.cuh"
#include "kernels/optimizer/adam_kernel.h"

namespace tandem::gpu {
namespace {

template <class W, class G>
__global__ void adamKernel(AdamArguments a, int64_t count) {
  const AdamCoefficients c = *a.step;
  if (c.overflow != nullptr && *c.overflow != 0) return;
  const float scale = c.scale * factorAt(c.clip);
  for (int64_t i = firstElement(); i < count; i += allThreads()) {
    const float g = scale * widen(static_cast<const G*>(a.gradient)[i]) + c.decay * a.master[i];
    const float m = c.beta1 * a.mean[i] + c.gain1 * g;
    const float v = c.beta2 * a.square[i] + c.gain2 * (g * g);
    const float w = c.keep * a.master[i] - c.rate * m / (c.spread * sqrtf(v) + c.epsilon);
    a.mean[i] = m;
    a.square[i] = v;
    a.master[i] = w;
    if (a.weights) static_cast<W*>(a.weights)[i] = narrow<W>(w);
  }
}

template <class G>
__global__ void lambKernel(AdamArguments a, float* direction, int64_t count) {
  const AdamCoefficients c = *a.step;
  if (c.overflow != nullptr && *c.overflow != 0) return;
  const float scale = c.scale * factorAt(c.clip);
  for (int64_t i = firstElement(); i < count; i += allThreads()) {
    const float g = scale * widen(static_cast<const G*>(a.gradient)[i]);
    const float m = c.beta1 * a.mean[i] + c.gain1 * g;
    const float v = c.beta2 * a.square[i] + c.gain2 * (g * g);
    direction[i] = c.rate * m / (c.spread * sqrtf(v) + c.epsilon) + c.decay * a.master[i];
    a.mean[i] = m;
    a.square[i] = v;
  }
}

}  // namespace

void adamUpdate(const AdamArguments& a, int64_t count, void* stream) {
  const auto kernel = withType(
      a.gradientType, [&]<class G>(G) { return withType(a.weightType, []<class W>(W) { return adamKernel<W, G>; }); });
  launch(kernel, count, stream, a, count);
}

void lambDirection(const AdamArguments& a, float* direction, int64_t count, void* stream) {
  launch(withType(a.gradientType, []<class G>(G) { return lambKernel<G>; }), count, stream, a, direction, count);
}

}  // namespace tandem::gpu
