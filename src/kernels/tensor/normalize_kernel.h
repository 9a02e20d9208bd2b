#pragma once

#include <array>
#include <cstdint>

#include "kernels/simd/element.h"

namespace tandem {

struct NormalizeArguments {
  const uint8_t* bytes;  ///< [images, height, width, channels]
  void* out;
  Element type;
  bool channelsLast;  ///< of `out`
  int64_t images, height, width, channels;
  int64_t outChannels;               ///< of `out`; channels beyond `channels` become zeros
  std::array<float, 3> mean, scale;  ///< normalised = (byte - mean) * scale
};

namespace cpu {
/// Rows [first, last) of the images * height rows.
void normalize(const NormalizeArguments& arguments, int64_t first, int64_t last);
}  // namespace cpu

namespace gpu {
void normalize(const NormalizeArguments& arguments, void* stream);
}  // namespace gpu

}  // namespace tandem
