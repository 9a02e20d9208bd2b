#pragma once

#include <string>
#include <vector>

#include "executor/executor.h"

namespace tandem {

/// One call of the planned executor, described for people.
struct OpDescription {
  std::string name;         ///< of the graph's node that gives the parameters
  std::string operation;    ///< "conv", "conv (5 channels of zeros)", "batch_norm + add + relu"
  std::string algorithm;    ///< of a convolution: "direct", "ATen", by pass "winograd, direct, winograd"; else empty
  bool byAutograd = false;  ///< backward is autograd's, of this one call
  std::vector<std::string> inputs;  ///< names of the calls that are read; "input" for the images
  ImageShape shape;                 ///< of the output, per image
  bool blocked = false;             ///< whether the output is in blocks of channels
  int64_t parameters = 0;
  double flops = 0;         ///< of forward, for the batch
  int64_t outputBytes = 0;  ///< for the batch
  bool kept = false;        ///< whether the output stays in memory until backward has passed
  bool again = false;       ///< whether forward runs again before backward
  size_t segment = 0;       ///< of --recompute, from 0
};

struct PlanDescription {
  std::vector<OpDescription> calls;  ///< in the order of forward; backward is the reverse
  size_t segments = 1;               ///< of --recompute; all but the last are repeated
  int64_t keptBytes = 0;             ///< most activations kept for backward at any time
  int64_t keptWithoutBytes = 0;      ///< the same without recomputation
  int64_t peakBytes = 0;             ///< most activations held during forward
  double flopsAgain = 0;             ///< of the repeated calls, for the batch
};

/// The planned executor's plan for a graph with `images` images. It counts activations only; parameters, their buffers
/// and the kernels' workspaces are not included.
PlanDescription describePlan(const Graph& graph, const ExecutorOptions& options, int64_t images);

/// The operations of a graph for which the planned executor uses libtorch's autograd there, one ATen call at a time.
std::vector<std::string> operationsByAutograd(const Graph& graph, at::Device device);

}  // namespace tandem
