#pragma once

#include <c10/core/ScalarType.h>

#include <string>

#include "base/measured_cache.h"
#include "device/layout.h"
#include "graph/graph.h"

namespace tandem {

struct LayoutTrial {
  at::ScalarType compute = at::kFloat;
  int64_t images = 0;   ///< of a replica's batch
  std::string machine;  ///< what measurements of this one are kept under: processor and threads
};

struct LayoutChoice {
  const LayoutEntry* layout = nullptr;
  double gain = 1;        ///< seconds of all convolutions in nhwc over those in `layout`
  bool fromCache = true;  ///< false: something was measured now
};

/// The layout in which a training step's convolutions take least time here: nhwc, unless another is more than 3 %
/// faster. Each different layer is measured once, forward and backward, on the threads of the caller, and kept in
/// `cache`; a ResNet-50 takes some seconds. REQUIRES: a build with oneDNN, a CPU.
LayoutChoice fastestLayout(const Graph& graph, const LayoutTrial& trial, MeasuredCache& cache);

}  // namespace tandem
