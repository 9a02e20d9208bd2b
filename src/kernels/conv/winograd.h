#pragma once

#include <cstdint>
#include <memory>

#include "kernels/conv/convolution.h"

namespace tandem {

/// Bytes that it keeps per weight, for forward and as many for the gradient of the input: 36 points for each 9.
constexpr int64_t winogradBytesPerWeight = 4 * sizeof(float);

/// A convolution of 3x3 weights, stride 1, by Winograd's F(4x4, 3x3) (kernels/conv/winograd_kernel.h): 36 products
/// where 144 are the definition, so it is faster where the channels are many, and less exact: the error of a result is
/// about ten times that of the direct sum in fp32 (bounded in the test). float or bfloat16, computed in fp32 and
/// rounded once. Null for what it does not serve: other sizes, groups, types, paddings above 2, channels that are not
/// whole vectors (kernels/simd/isa_dispatch.h), weights that do not lie as a Convolution's do.
std::unique_ptr<Convolution> makeWinogradConvolution(const ConvolutionGeometry& geometry,
                                                     const ConvolutionParameters& parameters);

}  // namespace tandem
