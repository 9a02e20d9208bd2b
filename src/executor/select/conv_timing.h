#pragma once

#include <c10/core/ScalarType.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "autotune/timing_cache.h"
#include "device/device_thread_pool.h"
#include "device/memory_layout.h"
#include "graph/graph.h"
#include "kernels/conv/convolution.h"

/// The measurements of fastestCpuKernels(). Each call runs on all replicas' threads at once, as in a training step,
/// because they share caches and memory. Times are means over the replicas. REQUIRES: threads bound to CPU devices.
namespace tandem {

constexpr size_t convolutionPasses = std::tuple_size_v<PassAlgorithms>;

/// Images of a batch, and how many of them a measured call takes (a divisor).
struct TrialSize {
  int64_t images, ofCall;
};

/// A convolution: what its time depends on, and its place in the graph.
struct TrialLayer {
  size_t node;
  Attributes attributes;
  ImageShape input, output;
  bool wantsInputGradient;
  bool normalised;  ///< a batch-norm follows

  std::string text() const;
};

/// Seconds of each pass of a call: with unchanged weights, and after they have changed.
struct PassSeconds {
  std::array<double, convolutionPasses> current = {}, changed = {};

  PassSeconds() = default;
  /// REQUIRES: numbers() of another object.
  explicit PassSeconds(const std::vector<double>& numbers);
  std::vector<double> numbers() const;
  /// For a step with `scale` times as many images.
  double ofStep(size_t pass, double scale) const;
};

/// A layout and an algorithm for a layer.
struct ConvCandidate {
  const LayoutEntry* layout;
  const ConvolutionAlgorithm* algorithm;
  bool all = true;  ///< measures all passes; false: only the algorithm's own, the others are 0

  bool measures(size_t pass) const { return all || algorithm->passes[pass]; }
};

/// Whether a candidate for the layer can have such PassSeconds::numbers(): a time for each pass that is measured.
bool arePlausible(const std::vector<double>& numbers, const TrialLayer& layer, const ConvCandidate& candidate);

/// Whether activations of the layer's input and output are blocked in the layout.
bool blocksInput(const TrialLayer& layer, const LayoutEntry& layout);
bool blocksOutput(const TrialLayer& layer, const LayoutEntry& layout);

/// Parameters in the layout that parameterSpecs() gives them; content undefined.
ConvolutionParameters emptyParameters(const TrialLayer& layer, const LayoutEntry& layout, at::ScalarType type);

/// Null if the candidate does not support the layer.
std::unique_ptr<Convolution> kernelFor(const TrialLayer& layer, const ConvCandidate& candidate,
                                       const ConvolutionParameters& parameters);

bool serves(const ConvCandidate& candidate, const TrialLayer& layer, at::ScalarType type);

/// The least times, PassSeconds of each candidate; candidates are timed in turns. REQUIRES: each supports the layer.
std::vector<Timing> convolutionTimings(const TrialLayer& layer, const std::vector<ConvCandidate>& candidates,
                                       const TrialSize& size, at::ScalarType type, DeviceThreads& threads);

/// The least times of a batch-norm with ReLU behind the layer, forward and backward, one per layout; layouts are timed
/// in turns.
std::vector<Timing> normTimings(const TrialLayer& layer, const std::vector<const LayoutEntry*>& layouts,
                                const TrialSize& size, at::ScalarType type, DeviceThreads& threads);

}  // namespace tandem
