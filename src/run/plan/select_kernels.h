#pragma once

#include "executor/select/kernel_selection.h"
#include "run/plan/plan.h"

namespace tandem {

/// --layout and --convolution, or for "auto" what fastestCpuKernels() finds on the cores of all replicas at once, or on
/// GPUs fastestGpuKernels() on the first: the measurements are kept in the cache folder. Where there is nothing to
/// choose (another executor, nchw, fp16 on a CPU, a build without oneDNN or without cuDNN's frontend), and with
/// --deterministic, "auto" means nhwc and direct, on a GPU ATen's; of fp16 on a CPU the note says so. --pad-images=auto
/// is what fastestImagePadding() finds on the first GPU, and none on a CPU, for another executor and with
/// --deterministic.
KernelSelection selectKernels(const RunPlan& plan, const Graph& graph);

}  // namespace tandem
