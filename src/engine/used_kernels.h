#pragma once

#include <map>
#include <string>
#include <vector>

#include "device/layout.h"
#include "engine/plan.h"
#include "executor/executor.h"
#include "kernels/engine_convolution.h"
#include "kernels/engine_norm.h"

namespace tandem {

/// What --layout=auto, --convolution=auto and --pad-images=auto came to.
struct UsedKernels {
  const LayoutEntry* layout = nullptr;
  std::vector<PassAlgorithms> algorithms;  ///< of convolutions, by node of the graph; empty: the executor's only one
  std::string note = {};                   ///< why, where it was measured
  std::vector<PassEngines> engines = {};   ///< of convolutions on a GPU, by node of the graph; empty: ATen's
  std::vector<NormEngines> norms = {};     ///< of batch-norms there; empty: Tandem's kernels
  int64_t zeroChannels = 0;                ///< that images have behind their own (executor/image_padding.h)
};

/// --layout and --convolution, or for "auto" what fastestKernels() finds on the cores of all replicas at once, or on
/// GPUs fastestEngines() on the first: the measurements are kept in the cache folder. Where there is nothing to choose
/// (another executor, nchw, fp16 on a CPU, a build without oneDNN or without cuDNN's frontend), and with
/// --deterministic, "auto" means nhwc and direct, on a GPU ATen's; of fp16 on a CPU the note says so. --pad-images=auto
/// is what fastestImagePadding() finds on the first GPU, and none on a CPU, for another executor and with
/// --deterministic.
UsedKernels usedKernels(const RunPlan& plan, const Graph& graph);

/// What an executor that runs by these kernels is told, but for its replica's dropout seed.
ExecutorOptions executorOptions(const UsedKernels& kernels, const Precision& precision, const RecomputeEntry& recompute,
                                at::Device device);

/// How many forward and backward passes of the graph's convolutions each algorithm computes in a training step, on a
/// GPU ATen, cuDNN, and "cuDNN with sums", those of the batch-norm behind; empty where there is one only.
std::map<std::string, int64_t> passesOf(const UsedKernels& kernels, const Graph& graph);

}  // namespace tandem
