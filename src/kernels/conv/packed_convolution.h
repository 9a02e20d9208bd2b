#pragma once

#include <memory>

#include "kernels/conv/convolution.h"

namespace tandem {

/// The gradient of the weight by our own product of matrices (kernels/conv/wgrad_gemm.h), summed in fp32; the other
/// passes are direct. Any size and stride; threads share the channels of one side, and change no bit. Null for groups,
/// for bfloat16 on a processor without AVX512_BF16, and what direct does not serve.
std::unique_ptr<Convolution> makePackedConvolution(const ConvolutionGeometry& geometry,
                                                   const ConvolutionParameters& parameters);

}  // namespace tandem
