#pragma once

#include <cstdint>

/// Strides of a convolution's tensors, for kernels that include no libtorch header. Channels come in blocks of
/// vectorLanes() (kernels/simd/isa_dispatch.h). In plain memory one block directly follows the other.
namespace tandem {

/// Activations: value (n, c, h, w) at n * image + c / lanes * block + c % lanes + h * row + w * pixel.
struct ImageOrder {
  int64_t images, channels, height, width;
  int64_t image, block, row, pixel;
};

/// Weights or their gradients: value (o, i, h, w) at o / lanes * outputBlock + o % lanes * output, likewise for i, + h
/// * row + w * pixel.
struct WeightOrder {
  int64_t outputs, inputs;
  int64_t outputBlock, output, inputBlock, input, row, pixel;
};

}  // namespace tandem
