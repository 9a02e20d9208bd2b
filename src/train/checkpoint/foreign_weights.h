#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "graph/graph.h"
#include "models/names/weights_map.h"

namespace tandem {

/// Values of another project's file in the network's order of axes and `shape`, contiguous.
at::Tensor inOwnOrder(const ForeignTensor& foreign, at::Tensor values, const std::vector<int64_t>& shape);

/// The inverse: values of the network in the file's order of axes and shape, contiguous.
at::Tensor inForeignOrder(const ForeignTensor& foreign, const at::Tensor& values);

/// Weights as another project's own network has them.
struct ForeignWeights {
  std::vector<std::pair<std::string, at::Tensor>> tensors;  ///< by name there, in shapes there, fp32, on the host
  std::vector<std::string> notes;     ///< tensors that only one side has, what else of the file is not written; shown
  std::vector<std::string> warnings;  ///< values that are not finite, a network that computes something else
};

/// Reads --weights of `graph` as readPretrained() does, and gives them under the names of `map`: its inverse. Biases
/// that the other network has in front of a batch-norm are zeros. Auxiliary heads that the other network or the file
/// lacks are left out; a note counts them. Throws as readPretrained(), and UsageError for a model that `map` does not
/// know. Throws CheckpointError for a scale that the other network has not and cannot do without.
ForeignWeights readForeign(const WeightsMap& map, const Config& config, const Graph& graph);

}  // namespace tandem
