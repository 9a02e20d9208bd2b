#include "kernels/adam_bodies.h"
#include "kernels/cuda_launch.cuh"

namespace tandem::gpu {
namespace {

template <class W, class G>
__global__ void adamKernel(AdamArguments a, int64_t count) {
  for (int64_t i = firstElement(); i < count; i += allThreads()) {
    const float g = a.scale * widen(static_cast<const G*>(a.gradient)[i]) + a.decay * a.master[i];
    const float m = a.beta1 * a.mean[i] + a.gain1 * g;
    const float v = a.beta2 * a.square[i] + a.gain2 * (g * g);
    const float w = a.keep * a.master[i] - a.rate * m / (a.spread * sqrtf(v) + a.epsilon);
    a.mean[i] = m;
    a.square[i] = v;
    a.master[i] = w;
    if (a.weights) static_cast<W*>(a.weights)[i] = narrow<W>(w);
  }
}

template <class G>
auto kernelFor(Element weights) {
  return weights == Element::fp32 ? adamKernel<float, G> : adamKernel<__nv_bfloat16, G>;
}

}  // namespace

void adamUpdate(const AdamArguments& a, int64_t count, void* stream) {
  const auto kernel =
      a.gradientType == Element::fp32 ? kernelFor<float>(a.weightType) : kernelFor<__nv_bfloat16>(a.weightType);
  launch(kernel, count, stream, a, count);
}

}  // namespace tandem::gpu
