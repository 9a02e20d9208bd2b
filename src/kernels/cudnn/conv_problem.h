#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

#include "kernels/conv/convolution.h"
#include "kernels/cudnn/execution_plans.h"
#include "kernels/simd/element.h"

namespace tandem {

enum class ConvolutionPass { forward, inputGradient, weightGradient };

/// One pass of a convolution in NHWC with one element type, summed in fp32.
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
