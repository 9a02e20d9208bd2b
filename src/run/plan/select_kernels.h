#pragma once

#include <cstdint>
#include <functional>

#include "executor/select/kernel_selection.h"
#include "run/plan/plan.h"

namespace tandem {

using KernelProgress = std::function<void(int64_t done, int64_t all)>;

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
/// Times that were kept from earlier runs count unless something disturbed them, or --refresh-kernels is given. A first
/// choice takes at most 20 s, or a tenth of what it saves if that is more. `progress` may be empty; it gets the number
/// of measurements before each of them, and the number of all, or 0 on a GPU.
///
/// Where the plan has a selection that was kept, that one is taken.
///
/// Also sets libtorch's flags for the process: deterministic algorithms, cuDNN's benchmark mode and TF32. Call it on
/// one thread before the replicas start.
KernelSelection selectKernels(const RunPlan& plan, const Graph& graph, const KernelProgress& progress = {});

}  // namespace tandem
