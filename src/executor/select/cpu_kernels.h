#pragma once

#include <c10/core/ScalarType.h>

#include <string>
#include <vector>

#include "autotune/timing_cache.h"
#include "device/device_thread_pool.h"
#include "device/memory_layout.h"
#include "graph/graph.h"
#include "kernels/conv/convolution.h"

namespace tandem {

struct CpuKernelTrial {
  at::ScalarType compute = at::kFloat;
  int64_t images = 0;   ///< that a replica computes at a time
  int64_t threads = 1;  ///< of a replica
  std::string machine;  ///< what measurements of this one are kept under: processor, replicas and threads
  /// To choose from. The first of each runs unless another wins; channels-last, blocked or not.
  std::vector<const LayoutEntry*> layouts;
  std::vector<const ConvolutionAlgorithm*> algorithms;  ///< where none serves a layer: direct
};

struct CpuKernelChoice {
  const LayoutEntry* layout = nullptr;
  std::vector<PassAlgorithms> algorithms;  ///< by node of the graph
  double gain = 1;        ///< seconds of all convolutions with the first of each over those of the choice
  bool fromCache = true;  ///< false: something was measured now
};

/// The layout, and for each pass of each convolution the algorithm, with which a training step's convolutions, and for
/// the layout the batch-norms behind them, take least time here; another algorithm than the first must be more than 3 %
/// faster, another layout 1 %. Each different layer is measured once, forward and backward, on all replicas' threads at
/// once, and kept in `cache`; a ResNet-50 takes ten seconds and more. With one of each there is nothing to measure.
/// REQUIRES: CPU devices, all with as many threads, and a build with oneDNN.
CpuKernelChoice fastestCpuKernels(const Graph& graph, const CpuKernelTrial& trial, DeviceThreads& threads,
                                  TimingCache& cache);

}  // namespace tandem
