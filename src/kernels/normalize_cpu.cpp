#include <cstddef>

#include "kernels/clones.h"
#include "kernels/normalize_bodies.h"

namespace tandem::cpu {
namespace {

// A multiple of three channels and of every vector length: within it the channel of an element is fixed.
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

template <class T>
TANDEM_INLINE void plane(const uint8_t* __restrict bytes, T* __restrict out, int64_t count, float mean, float scale) {
  for (int64_t i = 0; i < count; ++i) out[i] = fromFloat<T>((bytes[3 * i] - mean) * scale);
}

template <class T>
TANDEM_INLINE void rows(const NormalizeArguments& a, int64_t first, int64_t last) {
  const int64_t rowBytes = a.width * a.channels;
  T* const out = static_cast<T*>(a.out);
  if (a.channelsLast || a.channels == 1) {
    interleaved(a, a.bytes + first * rowBytes, out + first * rowBytes, (last - first) * rowBytes);
    return;
  }
  for (int64_t row = first; row < last; ++row) {
    const int64_t image = row / a.height, line = row % a.height;
    for (int64_t channel = 0; channel < 3; ++channel) {
      T* const target = out + ((image * 3 + channel) * a.height + line) * a.width;
      plane(a.bytes + row * rowBytes + channel, target, a.width, a.mean[static_cast<size_t>(channel)],
            a.scale[static_cast<size_t>(channel)]);
    }
  }
}

}  // namespace

TANDEM_CLONES void normalize(const NormalizeArguments& a, int64_t first, int64_t last) {
  withElement(a.type, [&](auto kind) TANDEM_INLINE_LAMBDA { rows<decltype(kind)>(a, first, last); });
}

}  // namespace tandem::cpu
