#pragma once

#include <memory>

#include "kernels/conv/convolution.h"

namespace tandem {

using MakeConvolution = std::unique_ptr<Convolution> (*)(const ConvolutionGeometry&, const ConvolutionParameters&);

/// A convolution of bfloat16 by one of float, for processors without products of bfloat16: each result is rounded once.
/// Null where `make` gives none for float.
std::unique_ptr<Convolution> makeWidenedConvolution(const ConvolutionGeometry& geometry,
                                                    const ConvolutionParameters& parameters, MakeConvolution make);

}  // namespace tandem
