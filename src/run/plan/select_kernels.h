#pragma once

#include "executor/select/kernel_selection.h"
#include "run/plan/plan.h"

namespace tandem {

/// Selects the kernels of a run by --layout, --convolution and --pad-images. Values of "auto" are measured:
///
/// - on CPUs by fastestCpuKernels(), on the cores of all replicas at once;
/// - on GPUs by fastestGpuKernels() and fastestImagePadding(), on the first GPU.
///
/// Times are kept in the cache folder. Nothing is measured with --deterministic, or if there is no choice: another
/// executor, nchw, fp16 on a CPU, a build without oneDNN or without cuDNN's frontend. Then "auto" means nhwc, direct
/// convolutions (on a GPU ATen's) and no padding. For fp16 on a CPU the note says so.
///
/// Also sets libtorch's flags for the process: deterministic algorithms, cuDNN's benchmark mode and TF32. Call it on
/// one thread before the replicas start.
KernelSelection selectKernels(const RunPlan& plan, const Graph& graph);

}  // namespace tandem
