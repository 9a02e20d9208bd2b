#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "graph/graph.h"
#include "kernels/cudnn/batch_norm.h"
#include "kernels/cudnn/conv.h"

namespace tandem {

struct GpuKernelTrial {
  at::ScalarType compute = at::kFloat;
  int64_t images = 0;        ///< that a replica computes at a time
  int64_t zeroChannels = 0;  ///< behind an image's own (executor/select/channel_padding.h)
  bool forwardOnly = false;
  at::Device device = at::kCUDA;
  TuningRule rule;
  ConvPlansOf engines = cudnnConvPlans;
  NormPlansOf norms =
      cudnnNormPlans;  ///< empty: batch-norms are not asked for, as where forward is repeated (--recompute)
};

struct GpuKernelChoice {
  std::vector<PassPlans> engines;  ///< of convolutions, by node of the graph
  std::vector<NormPlans> norms;    ///< of batch-norms that end with a ReLU, by node of the graph
  double gain = 1;                 ///< seconds of all that was measured by ATen and Tandem's kernels over the choice's
  bool fromCache = true;           ///< false: something was measured now
};

/// For each pass of each convolution the engine that takes least time here, ATen's among them, and for each batch-norm
/// with a ReLU a pair of engines where both together are faster than Tandem's kernels. Where a batch-norm alone reads a
/// convolution, an engine that takes its statistics as it writes (PassPlans::withStats) runs instead, with Tandem's
/// kernels for the rest, if that is faster than what was chosen for both, the batch-norm's backward included. As Tuner
/// measures: activations in nhwc, each different layer once, on the current stream of the caller's thread. Times are
/// kept in `cache`. Convolutions with unequal padding are ATen's, and so is the gradient of the images.
GpuKernelChoice fastestGpuKernels(const Graph& graph, const GpuKernelTrial& trial, TimingCache& cache);

}  // namespace tandem
