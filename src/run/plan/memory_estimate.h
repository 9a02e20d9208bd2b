#pragma once

#include <cstdint>

namespace tandem {

class Graph;
struct Config;
struct Setup;

/// Bytes that a run will need. On the CPU: all replicas together, because they share one memory. On GPUs: one GPU.
struct MemoryEstimate {
  int64_t parameters = 0, activations = 0, input = 0, runtime = 0;
  int64_t total() const { return parameters + activations + input + runtime; }
};

/// What the estimate depends on, besides the configuration.
struct MemoryNeeds {
  const Graph* graph = nullptr;
  int64_t replicaBatch = 0;
  int64_t replicasPerDevice = 1;
  int64_t parameterCopies = 1;  ///< copies of weights and optimizer state; gradients exist once per replica
  int64_t datasetBytes = 0;     ///< decoded images held in memory
  int64_t cacheBytes = 0;       ///< samples that may be kept there (--cache)
  int64_t keptBytes = 0;        ///< activations that a replica's plan keeps for backward; 0: not known
};

/// Estimates the memory of a run:
///
/// - parameters: master weights, weights in the compute type and optimizer state, once per copy; gradients, and with
///   --accumulate their sums, with --gradient-precision as backward writes them too, once per replica; all of these
///   once more for a parameter server;
/// - parameters, planned executor on a CPU: convolution weights packed for forward and for backward, per replica; 3x3
///   weights as large as Winograd's if that algorithm may be chosen; in fp32 if bf16 is computed in fp32;
/// - parameters, while backward runs: twice the largest gradient that is computed elsewhere and then copied to the flat
///   buffers; linear layers of the planned executor on a CPU write theirs in place;
/// - activations: what the plan keeps for backward; three times the largest output, for values that find no free memory
///   of their size; the latter also in fp32 if bf16 is computed in fp32;
/// - activations without a plan: 85 % of all nodes' outputs for a micro-batch, 20 % with --forward-only;
/// - input: the batches in flight and the data set; on a CPU what --cache may keep, and for each process of
///   --loader=processes its batches and a data set of its own;
/// - runtime: code, thread stacks and workspaces, a constant for the run and one for each of these processes.
///
/// It is within 15 % of the peak resident sets in memory_estimate_test.cpp, measured on a CPU of 2 cores. On GPUs it
/// was not compared. REQUIRES: `config` is resolved.
MemoryEstimate estimateMemory(const Config& config, const Setup& setup, const MemoryNeeds& needs);

/// How many of the available bytes a probe of --batch=max may use, at least 1. The reserve is 5 %, but at least 256
/// MiB. It is for other programs, and for what a probe allocates between two checks of its size.
int64_t memoryToUse(int64_t availableBytes);

}  // namespace tandem
