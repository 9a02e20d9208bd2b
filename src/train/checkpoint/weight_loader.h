#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "device/flat_buffers.h"
#include "executor/executor.h"
#include "graph/graph.h"

namespace tandem {

/// What a file says of a network's parameters and running statistics, checked and converted whole before anything of it
/// is used. Read by all replicas; never changed.
struct Pretrained {
  std::vector<std::pair<std::string, at::Tensor>> parameters;  ///< in the graph's shapes, fp32, on the host
  std::vector<std::pair<std::string, at::Tensor>> statistics;  ///< alike
  std::vector<std::string> notes;     ///< which file, what was left as it is; for people and for the record
  std::vector<std::string> warnings;  ///< alike: values that are not finite, a network that is not quite the same
};

/// Reads --weights by --weights-map; null without --weights. fp16, bf16 and fp64 become fp32, rounded to the nearest;
/// other types are refused. With --reset-head the classifiers' tensors are not looked at. Those of auxiliary heads may
/// be missing all together: evaluation does without. A "module." in front of all names, which PyTorch's DataParallel
/// puts there, is left out. Throws CheckpointError naming file, tensors and both shapes when a tensor is missing,
/// unknown, of another shape, or with --reject-nonfinite not finite; UsageError for a model that the map does not know;
/// else as WeightsFile::open().
std::shared_ptr<const Pretrained> readPretrained(const Config& config, const Graph& graph);

/// Into the master weights; those that the buffers do not have are passed over.
void setParameters(const Pretrained& pretrained, FlatBuffers& buffers);

/// Into a bound executor's running statistics.
void setStatistics(const Pretrained& pretrained, const Executor& executor);

/// Writes parameters and running statistics under the names of the graph, fp32, as safetensors. Throws StorageError.
void saveWeights(const std::string& path, const Graph& graph, const FlatBuffers& buffers, const Executor& executor);

}  // namespace tandem
