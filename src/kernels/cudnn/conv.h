#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "autotune/tuner.h"
#include "kernels/cudnn/conv_problem.h"

namespace tandem {

/// By pass, the name of an engine, or atenName, for batches of `images`; other batches run by ATen.
struct PassPlans {
  int64_t images = 0;
  std::array<std::string, 3> names = {};
  std::string withStats = {};  ///< of forwardWithStats(); empty: forward's, without sums

  bool operator==(const PassPlans&) const = default;
};

constexpr std::string_view atenName = "ATen";

/// Where engines come from.
using ConvPlansOf = std::function<std::unique_ptr<ExecutionPlans>(const ConvolutionProblem&)>;

/// A convolution whose passes run by the engines named, or by ATen where that is named and where the engine is missing
/// here, of which a warning tells. ExecutionPlans are made at the first call for a shape, which therefore must not be
/// recorded; workspace comes from libtorch's allocator. Null for what engines do not serve: unequal padding, blocked
/// activations, weights that are not dense in NHWC.
std::unique_ptr<Convolution> makeCudnnConvolution(const ConvolutionGeometry& geometry,
                                                  const ConvolutionParameters& parameters, PassPlans engines,
                                                  ConvPlansOf plansOf = cudnnConvPlans);

/// Memory to try the passes of a layer in.
struct ConvolutionTensors {
  at::Tensor x, weight, y;  ///< y: also its gradient
  ChannelStats sums = {};   ///< where they are asked for
};

/// As of cudnnConvPlans().
std::vector<at::Tensor> inOrder(const ConvolutionTensors& tensors);

/// The ways to compute a pass of a layer: ATen's, then those of `engines`, which may be null. An engine is right whose
/// result is ATen's up to what the precision rounds. The candidates hold the engines and the tensors.
std::vector<TuningCandidate> convolutionCandidates(ConvolutionPass pass, const ConvolutionGeometry& geometry,
                                                   const ConvolutionTensors& tensors,
                                                   std::shared_ptr<ExecutionPlans> engines);

}  // namespace tandem
