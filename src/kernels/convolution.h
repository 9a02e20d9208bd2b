#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

namespace tandem {

struct ConvolutionGeometry {
  int64_t strideH = 1, strideW = 1;
  int64_t top = 0, bottom = 0, left = 0, right = 0;  ///< zero padding
  int64_t groups = 1;
};

/// Views of the flat buffers: weight [out, in / groups, kH, kW] in channels-last memory, or without groups in blocks of
/// channels (ParameterSpec::block); bias [out] or undefined; the gradients alike.
struct ConvolutionParameters {
  at::Tensor weight, bias, weightGradient, biasGradient;
};

/// One layer's convolution on the CPU by oneDNN, float or bfloat16, with weights in the order that its kernels ask for.
///
/// Activations are channels-last [N, C, H, W] or blocked (kernels/blocked.h), told by their shape. Kernels are chosen
/// at the first call and again when a shape changes. Not thread-safe; runs on the OpenMP threads of the caller.
class Convolution {
 public:
  virtual ~Convolution() = default;

  /// The weights have changed: each pass brings them into its order again, once. (At first they count as changed.)
  virtual void weightsChanged() = 0;

  /// y, blocked if asked. REQUIRES then: canBlock(outputs / groups).
  virtual at::Tensor forward(const at::Tensor& x, bool blocked) = 0;

  /// The gradient of x of the last forward(), which had the shape and order of `x`.
  virtual at::Tensor backwardInput(const at::Tensor& x, const at::Tensor& dy) = 0;

  /// Writes the gradients of weight and bias.
  virtual void backwardParameters(const at::Tensor& x, const at::Tensor& dy) = 0;
};

/// Null where there is no such kernel: a build without oneDNN, another device or type.
std::unique_ptr<Convolution> makeConvolution(const ConvolutionGeometry& geometry,
                                             const ConvolutionParameters& parameters);

/// "oneDNN 3.2.0", or "" in a build without it.
std::string convolutionLibrary();

}  // namespace tandem
