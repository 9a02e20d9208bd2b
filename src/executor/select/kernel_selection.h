#pragma once

#include <map>
#include <string>
#include <vector>

#include "device/memory_layout.h"
#include "graph/graph.h"
#include "kernels/conv/convolution.h"
#include "kernels/cudnn/batch_norm.h"
#include "kernels/cudnn/conv.h"

namespace tandem {

/// The kernels of a run: the values of --layout, --convolution and --pad-images after every "auto" was measured.
struct KernelSelection {
  LayoutEntry layout = layouts().front();
  std::vector<PassAlgorithms> algorithms = {};  ///< of convolutions, by node of the graph; empty: direct
  std::vector<std::string> notes = {};          ///< what a reader of a rate should know of the choice, a line each
  std::string details = {};                     ///< what was measured and chosen; empty: nothing
  std::vector<PassPlans> engines = {};          ///< of convolutions on a GPU, by node of the graph; empty: ATen's
  std::vector<NormPlans> norms = {};            ///< of batch-norms on a GPU, by node; empty: Tandem's kernels
  int64_t zeroChannels = 0;                     ///< behind those of the images (executor/select/channel_padding.h)

  /// Those of one node.
  PassAlgorithms algorithmsOf(NodeId node) const;
  PassPlans enginesOf(NodeId node) const;
  NormPlans normsOf(NodeId node) const;
};

/// How many passes of the graph's convolutions each algorithm computes in a training step. On a GPU the names are ATen,
/// cuDNN and "cuDNN with sums", which accumulates a batch-norm's statistics. Empty if there is only one algorithm.
std::map<std::string, int64_t> passesOf(const KernelSelection& kernels, const Graph& graph);

}  // namespace tandem
