#pragma once

#include <vector>

#include "graph/graph.h"

namespace tandem {

/// One call of the planned executor: a node of the graph, or several that became one.
struct PlannedNode {
  const Node* node = nullptr;    ///< what gives operation, attributes and parameters
  std::vector<NodeId> inputs;    ///< values read; of a fused batch_norm: x, then the residual if there is one
  NodeId output = -1;            ///< value written
  std::vector<NodeId> absorbed;  ///< nodes that exist no more: their work is part of this call
  bool relu = false;             ///< batch_norm ends with a ReLU

  bool hasResidual() const { return inputs.size() > 1 && !absorbed.empty(); }
};

/// The graph's nodes in execution order, without the input, after batch_norm + [add] + relu became one. A value that
/// anybody else reads, or that is the graph's output, is never fused away.
std::vector<PlannedNode> fuse(const Graph& graph);

}  // namespace tandem
