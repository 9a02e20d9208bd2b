#pragma once

#include "graph/graph.h"

namespace tandem {

/// A tensor of what a network has learnt: a trained parameter, or a running statistic of a batch-norm.
struct StateTensor {
  enum class Kind { parameter, runningMean, runningVariance };

  std::string name;  ///< as in a state dict: the parameter's, or the node's and ".running_mean", ".running_var"
  NodeId node = -1;
  Kind kind = Kind::parameter;
  ParameterRole role = ParameterRole::weight;  ///< of a parameter
  std::vector<int64_t> shape;
};

/// All of them: the parameters in the graph's order, then the statistics.
std::vector<StateTensor> stateTensors(const Graph& graph);

/// The last node at or before `value`, on the way of first inputs, that has parameters: of the output the classifier.
/// Throws UsageError when there is none.
NodeId headBefore(const Graph& graph, NodeId value);

/// The classifier, then those of the auxiliary values.
std::vector<NodeId> headNodes(const Graph& graph);

/// The nodes up to the classifier's input, which is averaged over its pixels where there are several: an output of
/// [C, 1, 1]. Names and shapes of parameters stay.
Graph featureGraph(const Graph& graph);

}  // namespace tandem
