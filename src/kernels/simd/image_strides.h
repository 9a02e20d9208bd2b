#pragma once

#include <cstdint>

/// How a convolution's tensors lie in memory, for kernels that see no libtorch header. Channels come in blocks of
/// vectorLanes() (kernels/simd/isa_dispatch.h); where the memory is plain, one block follows the other.
namespace tandem {

/// Activations: value (n, c, h, w) at n * image + c / lanes * block + c % lanes + h * row + w * pixel.
struct ImageOrder {
  int64_t images, channels, height, width;
  int64_t image, block, row, pixel;
};

/// Weights or their gradients: value (o, i, h, w) at o / lanes * outputBlock + o % lanes * output, the same for i,
/// + h * row + w * pixel.
struct WeightOrder {
  int64_t outputs, inputs;
  int64_t outputBlock, output, inputBlock, input, row, pixel;
};

}  // namespace tandem
