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

constexpr int pixelsTogether = 4;  // 12 bytes, and whole packets of four values for any number of channels

/// The same for images in colour in NHWC, without a division: a thread has neighbouring pixels. `bytes` is aligned to 4
/// bytes, `out` to four values, and the pixels are a multiple of pixelsTogether.
template <class T, int outChannels>
__global__ void normalizePixelsKernel(NormalizeArguments a, int64_t count) {
  constexpr int values = 4, packets = pixelsTogether * outChannels / values;
  using Out = Packet<T, values>;
  for (int64_t i = firstElement(); i < count; i += allThreads()) {
    Packet<uint8_t, 4> bytes[3];
    TANDEM_UNROLL
    for (int b = 0; b < 3; ++b) bytes[b] = reinterpret_cast<const Packet<uint8_t, 4>*>(a.bytes)[3 * i + b];
    Out* const out = static_cast<Out*>(a.out) + i * packets;
    TANDEM_UNROLL
    for (int p = 0; p < packets; ++p) {
      Out packet;
      TANDEM_UNROLL
      for (int k = 0; k < values; ++k) {
        const int pixel = (p * values + k) / outChannels, channel = (p * values + k) % outChannels;
        const int at = 3 * pixel + channel;
        float value = 0;
        if (channel < 3) {
          value = (static_cast<float>(bytes[at / 4].values[at % 4]) - pick(a.mean, channel)) * pick(a.scale, channel);
        }
        packet.values[k] = narrow<T>(value);
      }
      out[p] = packet;
    }
  }
}

template <class T>
auto kernelOfPixels(int64_t outChannels) {
  return outChannels == 3   ? normalizePixelsKernel<T, 3>
         : outChannels == 4 ? normalizePixelsKernel<T, 4>
         : outChannels == 8 ? normalizePixelsKernel<T, 8>
                            : nullptr;
}

bool areAligned(const NormalizeArguments& a) {
  const int64_t bytesOfFour = 4 * bytesOf(a.type);
  return reinterpret_cast<uintptr_t>(a.bytes) % 4 == 0 && reinterpret_cast<uintptr_t>(a.out) % bytesOfFour == 0;
}

/// Whether the kernel of pixels ran.
bool normalizesPixels(const NormalizeArguments& a, void* stream) {
  const int64_t pixels = a.images * a.height * a.width;
  if (!a.channelsLast || a.channels != 3 || pixels % pixelsTogether != 0 || !areAligned(a)) return false;
  const auto kernel = withType(a.type, [&]<class T>(T) { return kernelOfPixels<T>(a.outChannels); });
  if (kernel == nullptr) return false;
  launch(kernel, pixels / pixelsTogether, stream, a, pixels / pixelsTogether);
  return true;
}

}  // namespace

void normalize(const NormalizeArguments& a, void* stream) {
  if (normalizesPixels(a, stream)) return;
  const int64_t count = a.images * a.height * a.width * a.outChannels;
  launch(withType(a.type, []<class T>(T) { return normalizeKernel<T>; }), count, stream, a, count);
}

}  // namespace tandem::gpu
