#pragma once

#include <cstdint>

namespace tandem {

class Graph;
struct Config;
struct Setup;

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
  int64_t parameterCopies = 1;  ///< of weights and the optimizer's state; every replica has gradients of its own
  int64_t datasetBytes = 0;     ///< decoded images held in memory
  int64_t keptBytes = 0;        ///< activations that a replica's plan keeps for backward; 0: not known
};

/// Parameters: master weights, weights in the compute type and optimizer state, by copy; gradients and with
/// --accumulate their sums, per replica; all of it once more for a parameter server; per replica convolution weights in
/// the two orders of their kernels, or Winograd's points of them (planned executor on a CPU, where an algorithm is
/// chosen: it may be Winograd's); while backward runs, twice the largest gradient that is computed apart and then put
/// in its place (a plan writes those of linear layers there at once). Activations: what the plan keeps for backward,
/// and three times the largest output for what is on its way when nothing of its size is free yet. Where bf16 is
/// computed in fp32, those weights and that output once more in fp32. Where there is no plan, 85 % of every node's
/// output for the batch (or one of its parts); 20 % forward only. Input: the batches in flight and the data set.
/// Runtime: code, thread stacks and workspaces.
///
/// Peak resident sets on a CPU of 2 cores come out within 15 % (memory_estimate_test.cpp names them). Nothing was
/// measured on GPUs. REQUIRES: `config` is resolved.
MemoryEstimate estimateMemory(const Config& config, const Setup& setup, const MemoryNeeds& needs);

/// What a probe of --batch=max may take of the host's available memory: all but 5 %, and 256 MiB at the least, which
/// stay in reserve for other programs and for what a probe takes between two looks at it. At least 1.
int64_t memoryToUse(int64_t availableBytes);

}  // namespace tandem
