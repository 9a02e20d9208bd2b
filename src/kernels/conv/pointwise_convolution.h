#pragma once

#include <memory>

#include "kernels/conv/convolution.h"

namespace tandem {

/// A convolution of 1x1 weights, forward and the gradient of the input, as our own products of matrices, the weights
/// packed once a step (kernels/conv/conv1x1_gemm.h); the weight's gradient is direct. Any stride. Null for what it does
/// not serve: other sizes, padding, groups, a bias, types but float, channels that are not whole vectors.
std::unique_ptr<Convolution> makePointwiseConvolution(const ConvolutionGeometry& geometry,
                                                      const ConvolutionParameters& parameters);

}  // namespace tandem
