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
      false;  ///< y and dy lie in blocks (kernels/conv/nchwc.h). REQUIRES then: canBlock(outputs / groups)
};

/// Views of the flat buffers: weight [out, in / groups, kH, kW] in channels-last memory, or without groups in blocks of
/// channels (ParameterSpec::block); bias [out] or undefined; the gradients alike.
struct ConvolutionParameters {
  at::Tensor weight, bias, weightGradient, biasGradient;
};

/// One layer's convolution on the CPU, float or bfloat16, with weights in the order that its kernels ask for.
///
/// x is channels-last [N, C, H, W] or blocked (kernels/conv/nchwc.h), told by its shape. Kernels are chosen at the
/// first call and again when a shape changes. Not thread-safe; runs on the OpenMP threads of the caller.
class Convolution {
 public:
  virtual ~Convolution() = default;

  /// The weights have changed: each pass brings them into its order again, once. (At first they count as changed.)
  virtual void weightsChanged() = 0;

  virtual at::Tensor forward(const at::Tensor& x) = 0;

  /// The same, y's last bits aside, with what the kernel summed of y as it wrote it. One that takes no sums, or none at
  /// this call, leaves them undefined: whoever asks can do without.
  virtual at::Tensor forwardWithStats(const at::Tensor& x, ChannelStats& sums) {
    sums = {};
    return forward(x);
  }

  /// The gradient of x.
  virtual at::Tensor backwardInput(const at::Tensor& x, const at::Tensor& dy) = 0;

  /// Writes the gradients of weight and bias.
  virtual void backwardParameters(const at::Tensor& x, const at::Tensor& dy) = 0;
};

/// A way to compute it.
struct ConvolutionAlgorithm {
  std::string_view name, summary;
  std::array<bool, 3> passes;  ///< forward, backwardInput, backwardParameters: false where another way is inside
  /// Null for what it does not serve.
  std::unique_ptr<Convolution> (*make)(const ConvolutionGeometry&, const ConvolutionParameters&);
  /// What it keeps of each weight of a 3x3 convolution with stride 1 beside the weight; 0: the weight in its own order.
  int64_t bytesPer3x3Weight = 0;
};

/// Whether they take activations and weights of this type: float and bfloat16. (For half ATen's convolution is all
/// there is on a CPU: the twin of a GPU's, to check by.)
bool convolutionsTake(at::ScalarType type);

/// Whether those of bfloat16 that are direct are computed in fp32, because the processor has no products of bfloat16.
bool convolutionsWidenBf16();

/// direct, which serves all that any of them serves, first.
std::span<const ConvolutionAlgorithm> convolutionAlgorithms();

/// By pass: forward, backwardInput, backwardParameters. Null: direct.
using PassAlgorithms = std::array<const ConvolutionAlgorithm*, 3>;

/// With an algorithm for each pass; direct where the chosen one does not serve the layer or the pass. Null where direct
/// does not: a build without oneDNN, another device or type.
std::unique_ptr<Convolution> makeConvolution(const ConvolutionGeometry& geometry,
                                             const ConvolutionParameters& parameters,
                                             const PassAlgorithms& algorithms = {});

/// By oneDNN, summed as the definition says; bfloat16 in fp32 where the processor has no products of it. Null for
/// another device or type, and in a build without oneDNN.
std::unique_ptr<Convolution> makeDirectConvolution(const ConvolutionGeometry& geometry,
                                                   const ConvolutionParameters& parameters);

/// The gradient of the weight as a product of matrices by oneDNN: of dy, and of what the weight saw at each place of
/// the result as a row of values (im2col), some places at a time, summed in fp32. With 1x1 weights and stride 1 those
/// rows are x itself. The other passes are direct. Null for groups, blocked activations, and what direct does not
/// serve.
std::unique_ptr<Convolution> makeGemmConvolution(const ConvolutionGeometry& geometry,
                                                 const ConvolutionParameters& parameters);

/// "oneDNN 3.2.0", or "" in a build without it.
std::string convolutionLibrary();

}  // namespace tandem
