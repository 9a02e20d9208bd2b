#pragma once

#include <string>
#include <vector>

#include "executor/executor.h"

namespace tandem {

/// One call of the planned executor, for people.
struct CallDescription {
  std::string name;                 ///< of the graph's node that gives the parameters
  std::string operation;            ///< "conv", "batch_norm + add + relu"
  std::string algorithm;            ///< of a convolution: "direct", or by pass "winograd, direct, winograd"; else empty
  std::string backward;             ///< "planned", or "autograd" of this one call
  std::vector<std::string> inputs;  ///< names of the calls that are read; "input" for the images
  ImageShape shape;                 ///< of the output, per image
  bool blocked = false;             ///< output in blocks of channels
  int64_t parameters = 0;
  double flops = 0;         ///< forward, of the batch
  int64_t outputBytes = 0;  ///< of the batch
  bool kept = false;        ///< the output stays in memory until backward has passed
};

struct PlanDescription {
  std::vector<CallDescription> calls;  ///< in the order of forward; backward goes the other way
  int64_t keptBytes = 0;               ///< activations held when forward ends
  int64_t peakBytes = 0;               ///< most activations held during forward
};

/// What the planned executor makes of a graph with `images` images. Activations only: parameters and their buffers
/// stand in RunPlan, and kernels' workspaces are not counted.
PlanDescription describePlan(const Graph& graph, const ExecutorOptions& options, int64_t images);

/// The operations of a graph that the planned executor leaves to libtorch's autograd, one ATen call at a time.
std::vector<std::string> operationsByAutograd(const Graph& graph);

}  // namespace tandem
