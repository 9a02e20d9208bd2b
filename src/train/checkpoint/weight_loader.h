#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "device/flat_buffers.h"
#include "executor/executor.h"
#include "formats/io/atomic_file.h"
#include "graph/graph.h"

namespace tandem {

/// A network's parameters and running statistics from a file. The whole file is checked and converted before any of it
/// is used. Immutable; all replicas read it.
struct Pretrained {
  std::vector<std::pair<std::string, at::Tensor>> parameters;  ///< by name, in the graph's shapes, fp32, on the host
  std::vector<std::pair<std::string, at::Tensor>> statistics;  ///< likewise
  std::string fileNote;                                        ///< what the file holds besides, as WeightsFile::note()
  int64_t leftOver = 0;               ///< tensors of the file that are not used, as num_batches_tracked
  std::vector<std::string> notes;     ///< which file, which tensors keep initial values; shown and recorded
  std::vector<std::string> warnings;  ///< values that are not finite, a network that differs slightly; likewise
};

/// Reads --weights by --weights-map, or without --weights the weights of a model of ONNX; null if there are none. F16,
/// BF16 and F64 values are rounded to fp32. With --reset-head the classifiers' tensors are not read. All tensors of
/// auxiliary heads may be missing, since evaluation does not use them. If all names start with "module.", as PyTorch's
/// DataParallel writes them, this prefix is dropped.
///
/// Throws CheckpointError with the file and its tensors if one is missing, unknown, of another shape or type, or there
/// twice. With --reject-nonfinite it also throws for a value that is not finite in fp32. Throws UsageError for a model
/// that the map does not know. Else throws as WeightsFile::open().
std::shared_ptr<const Pretrained> readPretrained(const Config& config, const Graph& graph);

/// Copies the parameters into master weights and weights. Skips parameters that the buffers do not have.
void setParameters(const Pretrained& pretrained, FlatBuffers& buffers);

/// Copies the running statistics into the executor's. REQUIRES: Executor::bind() was called.
void setStatistics(const Pretrained& pretrained, const Executor& executor);

/// Parameters and running statistics on the host, fp32, under the names and in the order of stateTensors(). Waits for
/// the device.
std::vector<std::pair<std::string, at::Tensor>> weightsOf(const Graph& graph, const FlatBuffers& buffers,
                                                          const Executor& executor);

/// Appends parameters and running statistics to an empty file as fp32 safetensors, under the names of stateTensors().
/// Waits for the device. Throws NumericError for a value that is not finite, StorageError.
void appendWeights(AtomicFile& file, const Graph& graph, const FlatBuffers& buffers, const Executor& executor);

}  // namespace tandem
