#include "kernels/adam_bodies.h"
#include "kernels/cuda_launch.cuh"

namespace tandem::gpu {
namespace {

template <class W, class G>
__global__ void adamKernel(AdamArguments a, int64_t count) {
  const ScaledLoss& loss = a.step.scaled;
  if (loss.scale != nullptr) {
    if (*loss.overflow != 0) return;
    __shared__ float numbered[3];  // powers in fp64: one thread's are enough
    if (threadIdx.x == 0) {
      a.setNumber(static_cast<double>(a.step.number) - *loss.skipped, *loss.scale);
      numbered[0] = a.scale, numbered[1] = a.rate, numbered[2] = a.spread;
    }
    __syncthreads();
    a.scale = numbered[0], a.rate = numbered[1], a.spread = numbered[2];
  }
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

}  // namespace

void adamUpdate(const AdamArguments& a, int64_t count, void* stream) {
  const auto kernel = withType(
      a.gradientType, [&]<class G>(G) { return withType(a.weightType, []<class W>(W) { return adamKernel<W, G>; }); });
  launch(kernel, count, stream, a, count);
}

}  // namespace tandem::gpu
