#include "kernels/gpu/launch.cuh"
#include "kernels/loss/softmax_cross_entropy_kernel.h"

namespace tandem::gpu {
namespace {

struct Larger {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};
struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

// Returns the result to every thread of the block. The order of additions is fixed.
template <class T, class Combine>
__device__ T reduceBlock(T value, Combine combine) {
  __shared__ T parts[blockThreads];
  parts[threadIdx.x] = value;
  __syncthreads();
  for (unsigned half = blockThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] = combine(parts[threadIdx.x], parts[threadIdx.x + half]);
    __syncthreads();
  }
  const T result = parts[0];
  __syncthreads();
  return result;
}

// One block per row; the formula is in native/softmax_cross_entropy.cpp.
template <class T>
__global__ void rowKernel(SoftmaxCrossEntropyArguments a) {
  const int64_t row = blockIdx.x, label = a.labels[row];
  const T* const logits = static_cast<const T*>(a.logits) + row * a.classes;
  T* const gradient = static_cast<T*>(a.gradient) + row * a.classes;
  const bool valid = label >= 0 && label < a.classes;

  float most = widen(logits[0]);
  for (int64_t k = threadIdx.x; k < a.classes; k += blockThreads) most = Larger{}(widen(logits[k]), most);
  most = reduceBlock(most, Larger{});

  double shifted = 0, exponentials = 0;
  for (int64_t k = threadIdx.x; k < a.classes; k += blockThreads) {
    const float difference = widen(logits[k]) - most;
    shifted += difference;
    exponentials += expf(difference);
  }
  shifted = reduceBlock(shifted, Plus{});
  exponentials = reduceBlock(exponentials, Plus{});

  const double uniform = static_cast<double>(a.smoothing) / static_cast<double>(a.classes);
  if (threadIdx.x == 0) {
    const double atLabel = valid ? static_cast<double>(widen(logits[label])) - most : nan("");
    a.losses[row] = log(exponentials) - (1.0 - a.smoothing) * atLabel - uniform * shifted;
  }
  const float inverse = static_cast<float>(1.0 / exponentials);
  for (int64_t k = threadIdx.x; k < a.classes; k += blockThreads) {
    const float target = static_cast<float>(uniform) + (k == label ? 1.0F - a.smoothing : 0.0F);
    gradient[k] = narrow<T>((expf(widen(logits[k]) - most) * inverse - target) * a.factor);
  }
}

__global__ void meanKernel(const double* losses, int64_t rows, float* loss) {
  double sum = 0;
  for (int64_t row = threadIdx.x; row < rows; row += blockThreads) sum += losses[row];
  sum = reduceBlock(sum, Plus{});
  if (threadIdx.x == 0) *loss = static_cast<float>(sum / static_cast<double>(rows));
}

}  // namespace

void softmaxCrossEntropy(const SoftmaxCrossEntropyArguments& a, float* loss, void* stream) {
  launchBlocks(withType(a.type, []<class T>(T) { return rowKernel<T>; }), a.rows, stream, a);
  launchBlocks(meanKernel, 1, stream, a.losses, a.rows, loss);
}

}  // namespace tandem::gpu
