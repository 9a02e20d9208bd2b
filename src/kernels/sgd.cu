#include "kernels/cuda_launch.cuh"
#include "kernels/sgd_bodies.h"

namespace tandem::gpu {
namespace {

template <class W, class G>
__global__ void sgdKernel(SgdArguments a, int64_t count) {
  const SgdStep step = a.step;
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

template <class G>
auto kernelFor(Element weights) {
  return weights == Element::fp32 ? sgdKernel<float, G> : sgdKernel<__nv_bfloat16, G>;
}

}  // namespace

void sgdUpdate(const SgdArguments& a, int64_t count, void* stream) {
  const auto kernel =
      a.gradientType == Element::fp32 ? kernelFor<float>(a.weightType) : kernelFor<__nv_bfloat16>(a.weightType);
  launch(kernel, count, stream, a, count);
}

}  // namespace tandem::gpu
