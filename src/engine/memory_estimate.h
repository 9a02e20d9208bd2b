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
  int64_t replicaBatch = 0;
  int64_t replicasPerDevice = 1;
  int64_t datasetBytes = 0;  ///< decoded images held in memory
  double keptShare = 1;      ///< what --recompute leaves of the activations kept for backward
};

/// Parameters: master weights, weights in the compute type, gradients, optimizer state, sums of gradients with
/// --accumulate, once per replica and once more for a parameter server; per replica convolution weights in the two
/// orders of their kernels, or Winograd's points of them (planned executor on a CPU); while backward runs, twice the
/// largest gradient (it is computed apart and then put in its place). Activations: 85 % of every node's output for the
/// batch (or one of its parts), because some are freed before backward begins; 20 % forward only; with --recompute the
/// share of them that is kept, and four times the largest output for gradients and what is computed again, which
/// otherwise find room where activations were. Input: the batches in flight and the data set. Runtime: code, thread
/// stacks and workspaces. The shares are from peak resident sets of ResNet-20, ResNet-50, VGG-16 and AlexNet, which
/// come out within 15 %. REQUIRES: `config` is resolved.
MemoryEstimate estimateMemory(const Config& config, const MemoryNeeds& needs);

/// What a probe of --batch=max may take of the host's available memory: all but 5 %, and 256 MiB at the least, which
/// stay in reserve for other programs and for what a probe takes between two looks at it. At least 1.
int64_t memoryToUse(int64_t availableBytes);

}  // namespace tandem
