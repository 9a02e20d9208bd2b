#pragma once

#include <memory>

#include "kernels/convolution.h"

namespace tandem {

/// A convolution of 1x1 weights, forward and the gradient of the input, as our own products of matrices, the weights
/// packed once a step (kernels/pointwise_product.h); the weight's gradient is direct. Any stride. Null for what it does
/// not serve: other sizes, padding, groups, a bias, types but float, channels that are not whole vectors.
std::unique_ptr<Convolution> makePointwiseConvolution(const ConvolutionGeometry& geometry,
                                                      const ConvolutionParameters& parameters);

}  // namespace tandem
