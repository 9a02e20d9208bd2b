#pragma once

#include <c10/core/ScalarType.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "device/device_thread_pool.h"
#include "device/memory_layout.h"
#include "graph/graph.h"
#include "kernels/conv/convolution.h"

/// What fastestCpuKernels() measures: each call on all replicas' threads at once, as in a training step, because they
/// share caches and memory. Times are means over the replicas. REQUIRES: threads of CPU devices, bound.
namespace tandem {

constexpr size_t convolutionPasses = std::tuple_size_v<PassAlgorithms>;

/// Images of a batch, and how many of them a measured call takes: a divisor.
struct TrialSize {
  int64_t images, ofCall;
};

/// A convolution with nothing but what its time depends on, and where it stands in the graph.
struct TrialLayer {
  size_t node;
  Attributes attributes;
  ImageShape input, output;
  bool wantsInputGradient;
  bool normalised;  ///< a batch-norm follows

  std::string text() const;
};

/// Seconds of each pass of a call: with weights as they are, and when they have changed.
struct PassSeconds {
  std::array<double, convolutionPasses> current = {}, changed = {};

  PassSeconds() = default;
  /// REQUIRES: numbers() of another.
  explicit PassSeconds(const std::vector<double>& numbers);
  std::vector<double> numbers() const;
  /// Of a step with `scale` times as many images.
  double ofStep(size_t pass, double scale) const;
};

/// A way to compute a layer.
struct ConvCandidate {
  const LayoutEntry* layout;
  const ConvolutionAlgorithm* algorithm;
  bool all = true;  ///< measures all passes; false: those that the algorithm has of its own, and the others are 0

  bool measures(size_t pass) const { return all || algorithm->passes[pass]; }
};

bool serves(const ConvCandidate& candidate, const TrialLayer& layer, at::ScalarType type);

/// The least, one per candidate; they take samples. REQUIRES: each serves the layer.
std::vector<PassSeconds> convolutionSeconds(const TrialLayer& layer, const std::vector<ConvCandidate>& candidates,
                                            const TrialSize& size, at::ScalarType type, DeviceThreads& threads);

/// Of a batch-norm with ReLU of the layer's output, forward and backward: the least of calls that take samples, one per
/// layout.
std::vector<double> normSeconds(const TrialLayer& layer, const std::vector<const LayoutEntry*>& layouts,
                                const TrialSize& size, at::ScalarType type, DeviceThreads& threads);

}  // namespace tandem
