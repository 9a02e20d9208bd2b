#pragma once

#include <memory>

#include "kernels/conv/convolution.h"

namespace tandem {

/// A 1x1 convolution by our own matrix product (kernels/conv/conv1x1_gemm.h): forward and the input's gradient, with
/// weights packed once per step. The weight's gradient is direct. Any stride. Null for other kernel sizes, padding,
/// groups, a bias, types other than float, and channels that are not whole vectors.
std::unique_ptr<Convolution> makePointwiseConvolution(const ConvolutionGeometry& geometry,
                                                      const ConvolutionParameters& parameters);

}  // namespace tandem
