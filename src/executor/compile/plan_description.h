#pragma once

#include <string>
#include <vector>

#include "executor/executor.h"

namespace tandem {

/// One call of the planned executor, for people.
struct OpDescription {
  std::string name;         ///< of the graph's node that gives the parameters
  std::string operation;    ///< "conv", "conv (5 channels of zeros)", "batch_norm + add + relu"
  std::string algorithm;    ///< of a convolution: "direct", "ATen", by pass "winograd, direct, winograd"; else empty
  bool byAutograd = false;  ///< backward is autograd's, of this one call
  std::vector<std::string> inputs;  ///< names of the calls that are read; "input" for the images
  ImageShape shape;                 ///< of the output, per image
  bool blocked = false;             ///< output in blocks of channels
  int64_t parameters = 0;
  double flops = 0;         ///< forward, of the batch
  int64_t outputBytes = 0;  ///< of the batch
  bool kept = false;        ///< the output stays in memory until backward has passed
  bool again = false;       ///< forward runs again before backward
  size_t segment = 0;       ///< of --recompute, from 0
};

struct PlanDescription {
  std::vector<OpDescription> calls;  ///< in the order of forward; backward goes the other way
  size_t segments = 1;               ///< of --recompute; all but the last are repeated
  int64_t keptBytes = 0;             ///< the most activations kept for backward at any one time
  int64_t keptWithoutBytes = 0;      ///< the same if nothing ran again
  int64_t peakBytes = 0;             ///< most activations held during forward
  double flopsAgain = 0;             ///< of the calls that run again, of the batch
};

/// What the planned executor makes of a graph with `images` images. Activations only: parameters and their buffers
/// stand in RunPlan, and kernels' workspaces are not counted.
PlanDescription describePlan(const Graph& graph, const ExecutorOptions& options, int64_t images);

/// The operations of a graph that the planned executor leaves to libtorch's autograd, one ATen call at a time.
std::vector<std::string> operationsByAutograd(const Graph& graph);

}  // namespace tandem
