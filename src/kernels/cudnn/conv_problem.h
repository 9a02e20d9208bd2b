#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "kernels/conv/convolution.h"
#include "kernels/cudnn/execution_plans.h"
#include "kernels/simd/element.h"

namespace tandem {

enum class ConvolutionPass { forward, inputGradient, weightGradient };

/// How a plan may compute otherwise than a problem says, by cuDNN's notes on it: by factors rounded to fewer bits, by
/// sums in fewer bits, or by tensor cores, which round factors of fp32 to TF32.
enum class NumericalNote { roundedFactors, shorterSums, tensorCores };

/// One pass of a convolution in NHWC with one element type, summed in fp32 (barredNotes()).
struct ConvolutionProblem {
  ConvolutionPass pass{};
  bool sums = false;  ///< forward: also accumulate y's channel statistics (ChannelStats, about 0)
  Element type{};
  bool tf32 = false;  ///< fp32 factors may be rounded to TF32
  int64_t images = 0, channels = 0, height = 0, width = 0;
  int64_t outputs = 0, kernelH = 0, kernelW = 0;
  ConvolutionGeometry geometry;

  int64_t outputHeight() const;
  int64_t outputWidth() const;
  /// Plans with one of these take no part. In 16 bits shorter sums may: PyTorch runs them too, and each plan's result
  /// is compared with ATen's (isNear()).
  std::vector<NumericalNote> barredNotes() const;
  /// All members in one line.
  std::string text() const;
};

/// The pass of a layer with x [N, C, H, W] and weight [out, in / groups, kH, kW], both of `type`. tf32 is taken from
/// libtorch's current setting for convolutions.
ConvolutionProblem problemOf(ConvolutionPass pass, const ConvolutionGeometry& geometry, at::ScalarType type,
                             at::IntArrayRef x, at::IntArrayRef weight);

/// Plans of cuDNN's graph API. Tensors: x, weight, y (or their gradients); the pass writes y, x or weight. With
/// statistics also sum and squares, [outputs] fp32. Equal problems of a thread share their plans. Null for a problem
/// that it does not support, and in a build without it. REQUIRES: a GPU, equal padding on both sides.
std::shared_ptr<ExecutionPlans> cudnnConvPlans(const ConvolutionProblem& problem);

}  // namespace tandem
