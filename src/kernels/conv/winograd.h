#pragma once

#include <cstdint>
#include <memory>

#include "kernels/conv/convolution.h"

namespace tandem {

/// Bytes of transformed weights per weight for forward, and as many for the input's gradient: 36 points for every 9.
constexpr int64_t winogradBytesPerWeight = 4 * sizeof(float);

/// A 3x3 convolution with stride 1 by Winograd's F(4x4, 3x3) (kernels/conv/winograd_kernel.h). It takes 36 products
/// instead of 144, so it is faster with many channels. It is less exact: a result's error is about ten times that of
/// the direct sum in fp32 (bounded in the test). float or bfloat16, computed in fp32 and rounded once.
///
/// Null for layers that it does not support: other kernel sizes, groups, other types, paddings above 2. Channels must
/// be whole vectors (kernels/simd/isa_dispatch.h), and weights must lie as a Convolution's do.
std::unique_ptr<Convolution> makeWinogradConvolution(const ConvolutionGeometry& geometry,
                                                     const ConvolutionParameters& parameters);

}  // namespace tandem
