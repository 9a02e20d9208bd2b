#pragma once

#include <memory>

#include "kernels/conv/convolution.h"

namespace tandem {

/// The weight's gradient by our own matrix product (kernels/conv/wgrad_gemm.h), summed in fp32; the other passes are
/// direct. Any kernel size and stride. Threads share the channels of one side; their number does not change a bit. Null
/// for groups, for bfloat16 without AVX512_BF16, and for what `direct` does not support.
std::unique_ptr<Convolution> makePackedConvolution(const ConvolutionGeometry& geometry,
                                                   const ConvolutionParameters& parameters);

}  // namespace tandem
