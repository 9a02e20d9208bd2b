#include "kernels/gpu/launch.cuh"
#include "kernels/tensor/normalize_kernel.h"

namespace tandem::gpu {
namespace {

// One thread per element of `out` in memory order, so that writes coalesce.
template <class T>
__global__ void normalizeKernel(NormalizeArguments a, int64_t count) {
  const int64_t pixels = a.height * a.width;
  for (int64_t i = firstElement(); i < count; i += allThreads()) {
    int64_t pixel = i / a.outChannels, channel = i % a.outChannels;
    if (!a.channelsLast) {
      channel = i / pixels % a.outChannels;
      pixel = i / (pixels * a.outChannels) * pixels + i % pixels;
    }
    float value = 0;
    if (channel < a.channels) {
      const auto byte = static_cast<float>(a.bytes[pixel * a.channels + channel]);
      value = (byte - pick(a.mean, channel)) * pick(a.scale, channel);
    }
    static_cast<T*>(a.out)[i] = narrow<T>(value);
  }
}

}  // namespace

void normalize(const NormalizeArguments& a, void* stream) {
  const int64_t count = a.images * a.height * a.width * a.outChannels;
  launch(withType(a.type, []<class T>(T) { return normalizeKernel<T>; }), count, stream, a, count);
}

}  // namespace tandem::gpu
