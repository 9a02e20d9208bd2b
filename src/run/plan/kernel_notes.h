#pragma once

#include "autotune/measuring.h"
#include "executor/select/kernel_selection.h"
#include "graph/graph.h"

namespace tandem {

/// A choice of kernels, and what it rests on.
struct KernelFinding {
  double gain = 1;  ///< seconds by the defaults / seconds of the choice
  const Measured* measured = nullptr;
  int64_t replicas = 0, threads = 0;  ///< on a CPU: that computed at once while they were measured, and threads of each
};

/// Adds notes and details to `kernels`: how much faster they are, and what was disturbed or postponed. No words if
/// nothing was measured.
void addKernelNotes(KernelSelection& kernels, const Graph& graph, const KernelFinding& finding);

}  // namespace tandem
