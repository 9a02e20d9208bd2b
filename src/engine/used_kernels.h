#pragma once

#include <map>
#include <string>
#include <vector>

#include "device/layout.h"
#include "engine/plan.h"
#include "kernels/convolution.h"

namespace tandem {

/// What --layout=auto, --convolution=auto and --pad-images=auto came to.
struct UsedKernels {
  const LayoutEntry* layout = nullptr;
  std::vector<PassAlgorithms> algorithms;  ///< of convolutions, by node of the graph; empty: the executor's only one
  std::string note = {};                   ///< why, where it was measured
  int64_t zeroChannels = 0;                ///< that images have behind their own (executor/image_padding.h)
};

/// --layout and --convolution, or for "auto" what fastestKernels() finds on the first replica's cores: the measurements
/// are kept in the cache folder. Where there is nothing to choose (a GPU, another executor, nchw, fp16, a build without
/// oneDNN), and with --deterministic, "auto" means nhwc and direct; of fp16 the note says so. --pad-images=auto is what
/// fastestImagePadding() finds on the first GPU, and none on a CPU, for another executor and with --deterministic.
UsedKernels usedKernels(const RunPlan& plan, const Graph& graph);

/// How many forward and backward passes of the graph's convolutions each algorithm computes in a training step.
std::map<std::string, int64_t> passesOf(const std::vector<PassAlgorithms>& algorithms, const Graph& graph);

}  // namespace tandem
