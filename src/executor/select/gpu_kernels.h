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
  int64_t zeroChannels = 0;  ///< behind those of the images (executor/select/channel_padding.h)
  bool forwardOnly = false;
  at::Device device = at::kCUDA;
  TuningRule rule;
  ConvPlansOf engines = cudnnConvPlans;
  NormPlansOf norms =
      cudnnNormPlans;  ///< empty: batch-norms are not measured, as with --recompute, which repeats forward
};

struct GpuKernelChoice {
  std::vector<PassPlans> engines;  ///< of convolutions, by node of the graph
  std::vector<NormPlans> norms;    ///< of batch-norms that end with a ReLU, by node of the graph
  double gain = 1;        ///< seconds by ATen and Tandem's kernels / seconds of the choice, of all that was measured
  bool fromCache = true;  ///< false: something was measured in this call
  Measured measured{};    ///< what it rests on
  std::vector<std::string> notes{};  ///< what cuDNN said (planNotes())
};

/// Chooses cuDNN's plans. For each pass of each convolution: the fastest of the plans and ATen. For each batch-norm
/// with a ReLU: a pair of plans if both together are faster than Tandem's kernels.
///
/// A batch-norm may be the only reader of a convolution. Then a plan that also accumulates statistics
/// (PassPlans::withStats) comes first: it is taken if both are faster together, forward, than ATen and Tandem's
/// kernels. These do the rest of the batch-norm. No other plan is tried for either forward then.
///
/// Tuner measures with NHWC activations, each different layer once, on the calling thread's current stream. Times are
/// kept in `cache`. ATen computes convolutions with unequal padding; the gradient of the images is never computed.
GpuKernelChoice fastestGpuKernels(const Graph& graph, const GpuKernelTrial& trial, TimingCache& cache);

}  // namespace tandem
