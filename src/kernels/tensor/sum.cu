#include "kernels/gpu/launch.cuh"
#include "kernels/tensor/sum_kernel.h"

namespace tandem::gpu {
namespace {

template <class T>
__global__ void sumKernel(SumArguments a, int64_t count) {
  for (int64_t i = firstElement(); i < count; i += allThreads()) {
    float sum = widen(static_cast<const T*>(a.sources[0])[i]);
    for (int source = 1; source < a.sourceCount; ++source) sum += widen(static_cast<const T*>(a.sources[source])[i]);
    static_cast<T*>(a.out)[i] = narrow<T>(sum);
  }
}

}  // namespace

void sumInto(const SumArguments& a, int64_t count, void* stream) {
  launch(withType(a.type, []<class T>(T) { return sumKernel<T>; }), count, stream, a, count);
}

}  // namespace tandem::gpu
