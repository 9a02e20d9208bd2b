#pragma once

#include <vector>

#include "graph/graph.h"

namespace tandem {

/// One call of the planned executor: a node of the graph, or several that became one.
struct PlannedNode {
  NodeId node = -1;               ///< what gives operation, attributes and parameters
  std::vector<NodeId> inputs;     ///< values read; of a fused batch_norm: x, then the residual if there is one
  NodeId output = -1;             ///< value written
  bool relu = false;              ///< batch_norm ends with a ReLU
  int64_t zeroChannels = 0;       ///< of a convolution's input, behind those that its weight has (image_padding.h)
  bool afterConvolution = false;  ///< batch_norm: a convolution makes x, which nobody else reads

  bool hasResidual() const { return inputs.size() > 1; }  ///< REQUIRES: a batch_norm
};

/// The graph's nodes in execution order, without the input, after batch_norm + [add] + relu became one. A value that
/// anybody else reads is never fused away.
std::vector<PlannedNode> fuse(const Graph& graph);

}  // namespace tandem
