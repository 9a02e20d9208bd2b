#pragma once

#include <memory>

#include "kernels/conv/convolution.h"

namespace tandem {

using MakeConvolution = std::unique_ptr<Convolution> (*)(const ConvolutionGeometry&, const ConvolutionParameters&);

/// A bfloat16 convolution by one of float, for processors without bfloat16 products; each result is rounded once. Null
/// if `make` gives none for float.
std::unique_ptr<Convolution> makeWidenedConvolution(const ConvolutionGeometry& geometry,
                                                    const ConvolutionParameters& parameters, MakeConvolution make);

}  // namespace tandem
