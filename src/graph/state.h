#pragma once

#include <optional>

#include "graph/graph.h"

namespace tandem {

/// A learnt tensor of a network: a trained parameter, or a running statistic of a batch-norm.
struct StateTensor {
  enum class Kind { parameter, runningMean, runningVariance };

  std::string name;  ///< state dict name: the parameter's, or the node's plus ".running_mean" or ".running_var"
  NodeId node = -1;
  Kind kind = Kind::parameter;
  ParameterRole role = ParameterRole::weight;  ///< of a parameter
  std::vector<int64_t> shape;
};

/// All learnt tensors: the parameters in the graph's order, then the statistics.
std::vector<StateTensor> stateTensors(const Graph& graph);

/// Bytes of all learnt tensors in fp32.
int64_t stateBytes(const Graph& graph);

/// The last node with parameters at or before `value` along first inputs; for the output that is the classifier. Empty
/// if there is none.
std::optional<NodeId> findHead(const Graph& graph, NodeId value);

/// The same. Throws UsageError if there is none.
NodeId headBefore(const Graph& graph, NodeId value);

/// The classifier, then the heads of the auxiliary values.
std::vector<NodeId> headNodes(const Graph& graph);

/// The nodes up to the classifier's input, which is averaged over its pixels if it has several: the output is [C, 1,
/// 1]. Names and shapes of parameters stay the same.
Graph featureGraph(const Graph& graph);

}  // namespace tandem
