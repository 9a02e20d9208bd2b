#pragma once

#include "executor/select/kernel_selection.h"
#include "run/plan/plan.h"

namespace tandem {

/// Selects the kernels of a run. "auto" is measured, and times are kept in the cache folder.
///
/// --layout and --convolution: measured on CPUs by fastestCpuKernels(), on the cores of all replicas at once; on the
/// first GPU by fastestGpuKernels(). There is no choice with --deterministic, another executor, nchw, fp16 on a CPU, or
/// a build without oneDNN or cuDNN's frontend. Then "auto" means nhwc and direct convolutions, on a GPU ATen's. For
/// fp16 on a CPU the note says so.
///
/// --pad-images: measured on the first GPU by fastestImagePadding(). On a CPU, with another executor and with
/// --deterministic "auto" means none.
///
/// Also sets libtorch's flags for the process: deterministic algorithms, cuDNN's benchmark mode and TF32. Call it on
/// one thread before the replicas start.
KernelSelection selectKernels(const RunPlan& plan, const Graph& graph);

}  // namespace tandem
