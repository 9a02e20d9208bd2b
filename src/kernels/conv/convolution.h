#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "kernels/norm/channel_stats.h"

namespace tandem {

struct ConvolutionGeometry {
  int64_t strideH = 1, strideW = 1;
  int64_t top = 0, bottom = 0, left = 0, right = 0;  ///< zero padding
  int64_t groups = 1;
  bool blockedOutput =
      false;  ///< whether y and dy are blocked (kernels/conv/nchwc.h). REQUIRES then: blockedSides().output
};

/// Views of the flat buffers. weight: [out, in / groups, kH, kW] in channels-last memory, or without groups in blocks
/// of channels (ParameterSpec::block). bias: [out] or undefined. The gradients have the same form.
struct ConvolutionParameters {
  at::Tensor weight, bias, weightGradient, biasGradient;
};

/// One layer's convolution on the CPU, float or bfloat16. Its weights lie in flat buffers.
///
/// x is channels-last [N, C, H, W] or blocked (kernels/conv/nchwc.h), recognised by its shape. Kernels are selected at
/// the first call and again when a shape changes. Not thread-safe; runs on the caller's OpenMP threads.
class Convolution {
 public:
  virtual ~Convolution() = default;

  /// Tells that the weights have changed: each pass reorders them again, once. They count as changed at first.
  virtual void weightsChanged() = 0;

  virtual at::Tensor forward(const at::Tensor& x) = 0;

  /// As forward(), but for the last bits of y, with the channel statistics that the kernel accumulated. A kernel that
  /// accumulates none, or none in this call, leaves them undefined, and the caller computes them.
  virtual at::Tensor forwardWithStats(const at::Tensor& x, ChannelStats& sums) {
    sums = {};
    return forward(x);
  }

  /// Returns the gradient of x.
  virtual at::Tensor backwardInput(const at::Tensor& x, const at::Tensor& dy) = 0;

  /// Writes the gradients of weight and bias.
  virtual void backwardParameters(const at::Tensor& x, const at::Tensor& dy) = 0;
};

/// A row of the table of algorithms.
struct ConvolutionAlgorithm {
  std::string_view name, summary;
  std::array<bool, 3>
      passes;  ///< forward, backwardInput, backwardParameters; false: another algorithm computes this pass
  /// Null for layers that it does not support.
  std::unique_ptr<Convolution> (*make)(const ConvolutionGeometry&, const ConvolutionParameters&);
  /// What it keeps of each weight of a 3x3 convolution with stride 1 beside the weight; 0: the weight in its own order.
  int64_t bytesPer3x3Weight = 0;
};

/// Whether the algorithms support this type of activations and weights: float and bfloat16. For half only ATen has a
/// CPU convolution, which tests compare GPU results with.
bool convolutionsTake(at::ScalarType type);

/// Whether direct bfloat16 convolutions are computed in fp32, because the processor has no bfloat16 products.
bool convolutionsWidenBf16();

/// The table. `direct` is first; it supports every layer that any other supports.
std::span<const ConvolutionAlgorithm> convolutionAlgorithms();

/// The algorithm of each pass: forward, backwardInput, backwardParameters. Null: direct.
using PassAlgorithms = std::array<const ConvolutionAlgorithm*, 3>;

/// A convolution with an algorithm for each pass. `direct` replaces an algorithm that does not support the layer or the
/// pass. Null if `direct` does not support the layer: without oneDNN, or for another device or type.
std::unique_ptr<Convolution> makeConvolution(const ConvolutionGeometry& geometry,
                                             const ConvolutionParameters& parameters,
                                             const PassAlgorithms& algorithms = {});

/// "oneDNN 3.2.0", or "" in a build without it.
std::string convolutionLibrary();

}  // namespace tandem
