#pragma once

#include <cstdint>
#include <memory>

#include "kernels/conv/convolution.h"

// The algorithms in the rows of convolutionAlgorithms().

namespace tandem {

/// The sum of the definition, by oneDNN; bfloat16 in fp32 if the processor has no bfloat16 products. Null for another
/// device or type, and in a build without oneDNN.
std::unique_ptr<Convolution> makeDirectConvolution(const ConvolutionGeometry& geometry,
                                                   const ConvolutionParameters& parameters);

/// The weight's gradient as a matrix product by oneDNN, of dy and the rows of im2col (kernels/conv/im2col.h). A part of
/// the rows is gathered at a time; sums are fp32. With 1x1 weights and stride 1 the rows are x itself. The other passes
/// are direct. Null for groups, blocked activations, and what `direct` does not support.
std::unique_ptr<Convolution> makeGemmConvolution(const ConvolutionGeometry& geometry,
                                                 const ConvolutionParameters& parameters);

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

/// The weight's gradient by our own matrix product (kernels/conv/wgrad_gemm.h), summed in fp32; the other passes are
/// direct. Any kernel size and stride. Threads share the channels of one side; their number does not change a bit. Null
/// for groups, for bfloat16 without AVX512_BF16, and for what `direct` does not support.
std::unique_ptr<Convolution> makePackedConvolution(const ConvolutionGeometry& geometry,
                                                   const ConvolutionParameters& parameters);

/// A 1x1 convolution by our own matrix product (kernels/conv/conv1x1_gemm.h): forward and the input's gradient, with
/// weights packed once per step. The weight's gradient is direct. Any stride. Null for other kernel sizes, padding,
/// groups, a bias, types other than float, and channels that are not whole vectors.
std::unique_ptr<Convolution> makePointwiseConvolution(const ConvolutionGeometry& geometry,
                                                      const ConvolutionParameters& parameters);

/// A depthwise convolution by our own sums (kernels/conv/depthwise.h), all passes. float or bfloat16, summed in fp32
/// and rounded once. Filters are 3, 5 or 7 wide and at most 7 high, strides are 1 or 2 and equal. Null for others, and
/// for channels that are not whole vectors.
std::unique_ptr<Convolution> makeDepthwiseConvolution(const ConvolutionGeometry& geometry,
                                                      const ConvolutionParameters& parameters);

using MakeConvolution = std::unique_ptr<Convolution> (*)(const ConvolutionGeometry&, const ConvolutionParameters&);

/// A bfloat16 convolution by one of float, for processors without bfloat16 products; each result is rounded once. Null
/// if `make` gives none for float.
std::unique_ptr<Convolution> makeWidenedConvolution(const ConvolutionGeometry& geometry,
                                                    const ConvolutionParameters& parameters, MakeConvolution make);

}  // namespace tandem
