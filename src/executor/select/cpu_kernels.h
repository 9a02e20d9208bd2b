#pragma once

#include <c10/core/ScalarType.h>

#include <limits>
#include <string>
#include <vector>

#include "autotune/measuring.h"
#include "device/device_thread_pool.h"
#include "device/memory_layout.h"
#include "graph/graph.h"
#include "kernels/conv/convolution.h"

namespace tandem {

struct CpuKernelTrial {
  at::ScalarType compute = at::kFloat;
  int64_t images = 0;   ///< that a replica computes at a time
  int64_t threads = 1;  ///< of a replica
  std::string machine;  ///< the key of this machine's measurements: processor, replicas and threads
  /// The candidates. The first is taken unless another wins; channels-last, blocked or not.
  std::vector<const LayoutEntry*> layouts;
  std::vector<const ConvolutionAlgorithm*> algorithms;  ///< if none supports a layer: direct
  MeasuringRule measuring{};
  /// The most that a pass's rounding error may be, in those of the first algorithm; infinite: not measured.
  double accuracy = std::numeric_limits<double>::infinity();
};

struct CpuKernelChoice {
  const LayoutEntry* layout = nullptr;
  std::vector<PassAlgorithms> algorithms;  ///< by node of the graph
  double gain = 1;        ///< seconds of all convolutions with the first of each / seconds of the choice
  bool fromCache = true;  ///< false: something was measured in this call
  Measured measured{};    ///< what it rests on
};

/// Chooses the memory layout, and per pass the convolution algorithm, that minimise the time of all convolutions of a
/// training step. The layout also counts the batch-norms that follow. An algorithm must be more than 3 % faster than
/// the first, a layout 1 %.
///
/// Each different layer is measured once, forward and backward, on all replicas' threads at once, and kept in `cache`.
/// Those with the most work come first. A ResNet-50 takes ten seconds or more. A layer that is postponed runs by the
/// first algorithm that supports it. With one layout and one algorithm nothing is measured. REQUIRES: CPU devices
/// with equally many threads, and a build with oneDNN.
CpuKernelChoice fastestCpuKernels(const Graph& graph, const CpuKernelTrial& trial, DeviceThreads& threads,
                                  TimingCache& cache);

}  // namespace tandem
