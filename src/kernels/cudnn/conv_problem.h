#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

#include "kernels/conv/convolution.h"
#include "kernels/cudnn/execution_plans.h"
#include "kernels/simd/element.h"

namespace tandem {

enum class ConvolutionPass { forward, inputGradient, weightGradient };

/// One pass of a convolution in NHWC, of one type, summed in fp32.
struct ConvolutionProblem {
  ConvolutionPass pass{};
  bool sums = false;  ///< forward: those of y's channels too (ChannelStats, about 0)
  Element type{};
  bool tf32 = false;  ///< fp32 factors may be rounded to TF32
  int64_t images = 0, channels = 0, height = 0, width = 0;
  int64_t outputs = 0, kernelH = 0, kernelW = 0;
  ConvolutionGeometry geometry;

  int64_t outputHeight() const;
  int64_t outputWidth() const;
  /// All of it, in one line.
  std::string text() const;
};

/// Of a layer with x [N, C, H, W] and weight [out, in / groups, kH, kW], both of `type`; tf32 as libtorch's
/// convolutions may now.
ConvolutionProblem problemOf(ConvolutionPass pass, const ConvolutionGeometry& geometry, at::ScalarType type,
                             at::IntArrayRef x, at::IntArrayRef weight);

/// Of cuDNN's graph API. Tensors: x, weight, y (or their gradients), of which the pass writes y, x or weight; with sums
/// also sum and squares, [outputs] fp32. Null for what it does not serve, and in a build without it. REQUIRES: a GPU,
/// equal padding on both sides.
std::unique_ptr<ExecutionPlans> cudnnConvPlans(const ConvolutionProblem& problem);

}  // namespace tandem
