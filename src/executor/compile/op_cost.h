#pragma once

#include <string>
#include <vector>

#include "executor/executor.h"

namespace tandem {

/// The least work of one pass of a planned call in one step. FLOPs count as in forwardFlops() and trainingFlops().
/// Bytes are those of the activations, gradients and parameters that it reads and writes, each once, whatever caches
/// hold. Work that --recompute repeats counts each time.
struct OpCost {
  std::string name;  ///< "conv forward", "batch_norm + relu backward"
  double flops = 0, bytes = 0;
  std::string call = {};  ///< of the plan, and the pass: "layer1.0.conv1 forward"
};

/// The number of a pass of a call: the argument of OpScope, and the index of its cost.
constexpr int64_t forwardWork(size_t call) { return static_cast<int64_t>(2 * call); }
constexpr int64_t backwardWork(size_t call) { return static_cast<int64_t>(2 * call + 1); }

/// The costs of all passes of a replica's step with `images` images. Two entries per call.
std::vector<OpCost> opCosts(const Graph& graph, const ExecutorOptions& options, int64_t images);

}  // namespace tandem
