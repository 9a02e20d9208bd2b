#include <cstddef>

#include "kernels/simd/target_clones.h"
#include "kernels/tensor/normalize_kernel.h"

namespace tandem::cpu {
namespace {

// A multiple of three channels and of every vector length, so the channel of element i depends on i alone.
constexpr int64_t period = 48;

template <class T>
TANDEM_INLINE void interleaved(const NormalizeArguments& a, const uint8_t* __restrict bytes, T* __restrict out,
                               int64_t count) {
  float mean[period], scale[period];
  for (int64_t i = 0; i < period; ++i) {
    mean[i] = a.mean[static_cast<size_t>(i % a.channels)];
    scale[i] = a.scale[static_cast<size_t>(i % a.channels)];
  }
  int64_t done = 0;
  for (; done + period <= count; done += period) {
    for (int64_t i = 0; i < period; ++i) out[done + i] = fromFloat<T>((bytes[done + i] - mean[i]) * scale[i]);
  }
  for (int64_t i = 0; done + i < count; ++i) out[done + i] = fromFloat<T>((bytes[done + i] - mean[i]) * scale[i]);
}

/// Writes each pixel: the channels of the bytes, then zeros.
template <class T>
TANDEM_INLINE void padded(const NormalizeArguments& a, const uint8_t* __restrict bytes, T* __restrict out,
                          int64_t pixels) {
  const int64_t channels = a.channels, outChannels = a.outChannels;
  const T zero = fromFloat<T>(0);
  for (int64_t i = 0; i < pixels; ++i) {
    T* const pixel = out + i * outChannels;
    for (int64_t channel = 0; channel < channels; ++channel) {
      const auto at = static_cast<size_t>(channel);
      pixel[channel] = fromFloat<T>((bytes[i * channels + channel] - a.mean[at]) * a.scale[at]);
    }
    for (int64_t channel = channels; channel < outChannels; ++channel) pixel[channel] = zero;
  }
}

template <int64_t channels, class T>
TANDEM_INLINE void plane(const uint8_t* __restrict bytes, T* __restrict out, int64_t count, float mean, float scale) {
  for (int64_t i = 0; i < count; ++i) out[i] = fromFloat<T>((bytes[channels * i] - mean) * scale);
}

/// Writes one row of every plane.
template <int64_t channels, class T>
TANDEM_INLINE void planes(const NormalizeArguments& a, T* out, int64_t row) {
  const int64_t image = row / a.height, line = row % a.height;
  for (int64_t channel = 0; channel < a.outChannels; ++channel) {
    T* const target = out + ((image * a.outChannels + channel) * a.height + line) * a.width;
    if (channel >= channels) {
      for (int64_t i = 0; i < a.width; ++i) target[i] = fromFloat<T>(0);
      continue;
    }
    plane<channels>(a.bytes + row * a.width * channels + channel, target, a.width, a.mean[static_cast<size_t>(channel)],
                    a.scale[static_cast<size_t>(channel)]);
  }
}

template <class T>
TANDEM_INLINE void rows(const NormalizeArguments& a, int64_t first, int64_t last) {
  const int64_t rowBytes = a.width * a.channels;
  T* const out = static_cast<T*>(a.out);
  const bool isPadded = a.outChannels != a.channels;
  if (!isPadded && (a.channelsLast || a.channels == 1)) {
    interleaved(a, a.bytes + first * rowBytes, out + first * rowBytes, (last - first) * rowBytes);
    return;
  }
  if (a.channelsLast) {
    padded(a, a.bytes + first * rowBytes, out + first * a.width * a.outChannels, (last - first) * a.width);
    return;
  }
  for (int64_t row = first; row < last; ++row) {
    if (a.channels == 3) {
      planes<3>(a, out, row);
    } else {
      planes<1>(a, out, row);
    }
  }
}

}  // namespace

TANDEM_CLONES void normalize(const NormalizeArguments& a, int64_t first, int64_t last) {
  withElement(a.type, [&](auto kind) TANDEM_INLINE_LAMBDA { rows<decltype(kind)>(a, first, last); });
}

}  // namespace tandem::cpu
