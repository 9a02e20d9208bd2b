#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "graph/graph.h"
#include "kernels/engine_convolution.h"

namespace tandem {

struct EngineTrial {
  at::ScalarType compute = at::kFloat;
  int64_t images = 0;  ///< that a replica computes at a time
  at::Device device = at::kCUDA;
  TuningRule rule;
  EnginesOf engines = cudnnConvolution;
};

struct EngineChoice {
  std::vector<PassEngines> engines;  ///< by node of the graph
  double gain = 1;                   ///< seconds of all convolutions by ATen over those of the choice
  bool fromCache = true;             ///< false: something was measured now
};

/// For each pass of each convolution the engine that takes least time here, ATen's among them, as Tuner measures:
/// activations in nhwc, each different layer once, on the current stream of the caller's thread. Times are kept in
/// `cache`. Layers with unequal padding are ATen's, and so is the input gradient of a layer whose input is the images'.
EngineChoice fastestEngines(const Graph& graph, const EngineTrial& trial, MeasuredCache& cache);

}  // namespace tandem
