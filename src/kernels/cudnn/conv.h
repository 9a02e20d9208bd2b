#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "autotune/tuner.h"
#include "kernels/cudnn/conv_problem.h"

namespace tandem {

/// By pass, the name of an engine, or atenEngine, for batches of `images`; other batches run by ATen.
struct PassEngines {
  int64_t images = 0;
  std::array<std::string, 3> names = {};
  std::string withSums = {};  ///< of forwardWithSums(); empty: forward's, without sums

  bool operator==(const PassEngines&) const = default;
};

constexpr std::string_view atenEngine = "ATen";

/// Where engines come from.
using EnginesOf = std::function<std::unique_ptr<Engines>(const ConvolutionProblem&)>;

/// A convolution whose passes run by the engines named, or by ATen where that is named and where the engine is missing
/// here, of which a warning tells. Engines are made at the first call for a shape, which therefore must not be
/// recorded; workspace comes from libtorch's allocator. Null for what engines do not serve: unequal padding, blocked
/// activations, weights that are not dense in NHWC.
std::unique_ptr<Convolution> makeEngineConvolution(const ConvolutionGeometry& geometry,
                                                   const ConvolutionParameters& parameters, PassEngines engines,
                                                   EnginesOf enginesOf = cudnnConvolution);

/// Memory to try the passes of a layer in.
struct ConvolutionTensors {
  at::Tensor x, weight, y;  ///< y: also its gradient
  ChannelSums sums = {};    ///< where they are asked for
};

/// As of cudnnConvolution().
std::vector<at::Tensor> inOrder(const ConvolutionTensors& tensors);

/// The ways to compute a pass of a layer: ATen's, then those of `engines`, which may be null. An engine is right whose
/// result is ATen's up to what the precision rounds. The candidates hold the engines and the tensors.
std::vector<TuningCandidate> convolutionCandidates(ConvolutionPass pass, const ConvolutionGeometry& geometry,
                                                   const ConvolutionTensors& tensors, std::shared_ptr<Engines> engines);

}  // namespace tandem
