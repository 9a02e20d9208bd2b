#pragma once

#include <string>
#include <vector>

#include "executor/executor.h"

namespace tandem {

/// What a pass of a call of the planned executor does in one step, at the least: FLOPs as forwardFlops() and
/// trainingFlops() count them; bytes of the activations, gradients and parameters that it reads and writes, each once,
/// whatever caches hold. What --recompute repeats counts each time.
struct OpCost {
  std::string name;  ///< "conv forward", "batch_norm + relu backward"
  double flops = 0, bytes = 0;
};

/// The number of a pass of the plan's call: what OpScope is given and where its work stands.
constexpr int64_t forwardWork(size_t call) { return static_cast<int64_t>(2 * call); }
constexpr int64_t backwardWork(size_t call) { return static_cast<int64_t>(2 * call + 1); }

/// Of `images` images, all of a replica's step. Two entries per call.
std::vector<OpCost> opCosts(const Graph& graph, const ExecutorOptions& options, int64_t images);

}  // namespace tandem
