#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "autotune/tuner.h"
#include "kernels/cudnn/conv_problem.h"

namespace tandem {

/// The name of a plan, or atenName, for each pass, for batches of `images`. Other batches run by ATen.
struct PassPlans {
  int64_t images = 0;
  std::array<std::string, 3> names = {};
  std::string withStats = {};  ///< for forwardWithStats(); empty: forward's plan, without statistics

  bool operator==(const PassPlans&) const = default;
};

constexpr std::string_view atenName = "ATen";

/// The source of plans.
using ConvPlansOf = std::function<std::shared_ptr<ExecutionPlans>(const ConvolutionProblem&)>;

/// A convolution whose passes run by the named plans, or by ATen. ATen also replaces a plan that is missing here, with
/// a warning. Plans are built at the first call for a shape, so that call must not be captured. libtorch's allocator
/// provides the workspace. Null for what plans do not support: unequal padding, blocked activations, weights not dense
/// in NHWC.
std::unique_ptr<Convolution> makeCudnnConvolution(const ConvolutionGeometry& geometry,
                                                  const ConvolutionParameters& parameters, PassPlans engines,
                                                  ConvPlansOf plansOf = cudnnConvPlans);

/// Tensors for trials of a layer's passes.
struct ConvolutionTensors {
  at::Tensor x, weight, y;  ///< y: also for its gradient
  ChannelStats sums = {};   ///< if they are requested
};

/// The tensors in the order of cudnnConvPlans().
std::vector<at::Tensor> inOrder(const ConvolutionTensors& tensors);

/// The candidates for a pass of a layer: ATen, then the plans, which may be null. A plan is right if its result equals
/// ATen's up to the precision's rounding. The candidates hold the plans and the tensors.
std::vector<TuningCandidate> convolutionCandidates(ConvolutionPass pass, const ConvolutionGeometry& geometry,
                                                   const ConvolutionTensors& tensors,
                                                   std::shared_ptr<ExecutionPlans> engines);

}  // namespace tandem
