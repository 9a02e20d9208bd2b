#pragma once

#include <cstdint>

namespace tandem {

class Graph;
struct Config;

/// Bytes that a run will need. On the CPU all replicas share one memory and are counted together; of several GPUs it
/// is the need of one.
struct MemoryEstimate {
  int64_t parameters = 0, activations = 0, input = 0, runtime = 0;
  int64_t total() const { return parameters + activations + input + runtime; }
};

/// What the estimate depends on beside the configuration.
struct MemoryNeeds {
  const Graph* graph = nullptr;
  int64_t replicasPerDevice = 1;
  int64_t datasetBytes = 0;  ///< decoded images held in memory
};

/// Parameters: master weights, weights in the compute type, gradients, momentum, once per replica and once more for a
/// parameter server. Activations: every node's output for the batch, once (gradients of activations live only briefly
/// and reuse the memory of outputs that backward needs no more). Input: the batches in flight and the data set.
/// Runtime: code, thread stacks and workspaces. REQUIRES: names, batch and input of `config` are resolved.
MemoryEstimate estimateMemory(const Config& config, const MemoryNeeds& needs);

}  // namespace tandem
