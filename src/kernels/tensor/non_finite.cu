#include "kernels/gpu/launch.cuh"
#include "kernels/tensor/non_finite_kernel.h"

namespace tandem::gpu {
namespace {

template <class T>
__global__ void markKernel(NonFiniteArguments a, int64_t count, float* mark) {
  bool found = false;
  for (int64_t i = firstElement(); i < count; i += allThreads()) {
    found = found || !isfinite(widen(static_cast<const T*>(a.values)[i]));
  }
  if (found) *mark = 1;  // several threads may write the same value
}

}  // namespace

void markNonFinite(const NonFiniteArguments& a, int64_t count, float* mark, void* stream) {
  launch(withType(a.type, []<class T>(T) { return markKernel<T>; }), count, stream, a, count, mark);
}

}  // namespace tandem::gpu
