#pragma once

#include <c10/core/Device.h>

#include <vector>

#include "graph/graph.h"
#include "kernels/norm/activation.h"

namespace tandem {

/// One call of the planned executor: one node of the graph, or several fused ones.
struct PlannedNode {
  NodeId node = -1;            ///< the node with operation, attributes and parameters
  std::vector<NodeId> inputs;  ///< values read; for a fused batch_norm: x, then the residual if there is one
  NodeId output = -1;          ///< value written
  Activation activation = Activation::none;  ///< with which batch_norm ends
  int readers = 0;                ///< how often calls and the graph's caller read the output; each gives a gradient
  int64_t zeroChannels = 0;       ///< of a convolution's input, behind those that its weight has (channel_padding.h)
  bool afterConvolution = false;  ///< batch_norm: a convolution makes x, and nobody else reads it

  bool hasResidual() const { return inputs.size() > 1; }  ///< REQUIRES: a batch_norm
};

/// The nodes of the graph in execution order, without the input. batch_norm + [add] + relu are fused, and batch_norm
/// with any activation that normAct() has on the device. A value that another node reads is never fused away.
std::vector<PlannedNode> fuse(const Graph& graph, at::Device device);

}  // namespace tandem
