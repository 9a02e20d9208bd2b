#include "executor/select/cpu_kernels.h"

#include <algorithm>
#include <span>

#include "autotune/interleaved_timing.h"
#include "base/error.h"
#include "base/text.h"
#include "executor/select/conv_timing.h"
#include "graph/operation.h"

namespace tandem {
namespace {

constexpr double layoutWorthChanging = 1.01;       // less than for one layer: a sum over all layers is more exact
constexpr const char* ownKernels = ", kernels 4";  // counted up when one of our kernels becomes faster or slower
constexpr int64_t imagesPerThread = 4;             // of a call: enough to keep every thread busy
constexpr int64_t parts = 4;                       // of the images, one for each call

bool isNormalised(const Graph& graph, NodeId id) {
  return std::ranges::any_of(
      graph.nodes(), [id](const Node& node) { return node.operation->traits.batchNorm && node.inputs.front() == id; });
}

std::vector<TrialLayer> convolutionsOf(const Graph& graph) {
  std::vector<TrialLayer> layers;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (!node.operation->traits.convolution) continue;
    layers.push_back({i, node.attributes, graph.inputShapes(node).front(), node.shape,
                      node.inputs.front() != graph.input(), isNormalised(graph, static_cast<NodeId>(i))});
  }
  return layers;
}

/// Seconds of each layer's candidates, from the cache or measured.
class Measurements {
 public:
  Measurements(const CpuKernelTrial& trial, DeviceThreads& threads, TimingCache& cache)
      : trial_(trial), threads_(threads), cache_(cache) {
    size_.ofCall = std::min(trial.images, imagesPerThread * trial.threads);
    size_.images = std::min(trial.images / size_.ofCall, parts) * size_.ofCall;
  }

  /// One per candidate.
  std::vector<PassSeconds> of(const TrialLayer& layer, const std::vector<ConvCandidate>& candidates) {
    const auto keyOf = [&](const ConvCandidate& candidate) {
      return concat("convolution | ", trial_.machine, " | ", convolutionLibrary(), ownKernels, " | ",
                    sized(layer.text()), " | ", candidate.layout->name, " | ", candidate.algorithm->name,
                    candidate.all ? "" : ", own passes");
    };
    const auto measure = [&] {
      std::vector<std::vector<double>> all;
      for (const PassSeconds& each : convolutionSeconds(layer, candidates, size_, trial_.compute, threads_)) {
        all.push_back(each.numbers());
      }
      return all;
    };
    std::vector<PassSeconds> seconds;
    for (const auto& numbers : knownOr(candidates, PassSeconds().numbers().size(), keyOf, measure)) {
      seconds.emplace_back(numbers);
    }
    return seconds;
  }

  /// For the batch-norm that follows the layer, one per layout of the trial; 0 if none follows.
  std::vector<double> ofNorm(const TrialLayer& layer) {
    if (!layer.normalised) return std::vector<double>(trial_.layouts.size());
    const ImageShape& s = layer.output;
    const auto keyOf = [&](const LayoutEntry* layout) {
      return concat("batch_norm | ", trial_.machine, ownKernels, " | ",
                    sized(concat(s.channels, 'x', s.height, 'x', s.width, " groups ", layer.attributes.groups)), " | ",
                    layout->name);
    };
    const auto measure = [&] {
      std::vector<std::vector<double>> all;
      for (const double each : normSeconds(layer, trial_.layouts, size_, trial_.compute, threads_)) {
        all.push_back({each});
      }
      return all;
    };
    std::vector<double> seconds;
    for (const auto& numbers : knownOr(trial_.layouts, 1, keyOf, measure)) seconds.push_back(numbers.front());
    return seconds;
  }

  double scale() const { return static_cast<double>(trial_.images) / static_cast<double>(size_.ofCall); }
  bool fromCache() const { return fromCache_; }

 private:
  std::string sized(const std::string& shape) const {
    return concat(size_.ofCall, " of ", size_.images, " x ", shape, ' ', c10::toString(trial_.compute));
  }

  /// The cached `count` numbers of each thing; if any is missing, the results of measure() for all.
  template <class Things, class KeyOf, class Measure>
  std::vector<std::vector<double>> knownOr(const Things& things, size_t count, const KeyOf& keyOf,
                                           const Measure& measure) {
    std::vector<std::vector<double>> numbers;
    for (const auto& thing : things) {
      const auto known = cache_.find(keyOf(thing));
      if (known && known->size() == count) numbers.push_back(*known);
    }
    if (numbers.size() == things.size()) return numbers;
    fromCache_ = false;
    numbers = measure();
    for (size_t i = 0; i < things.size(); ++i) cache_.add(keyOf(things[i]), numbers[i]);
    return numbers;
  }

  const CpuKernelTrial& trial_;
  DeviceThreads& threads_;
  TimingCache& cache_;
  TrialSize size_{};
  bool fromCache_ = true;
};

/// Adds the algorithms that support the layer; if there is none, `direct`.
void addServing(const TrialLayer& layer, const LayoutEntry& layout, const CpuKernelTrial& trial,
                std::vector<ConvCandidate>& candidates) {
  const size_t before = candidates.size();
  for (const ConvolutionAlgorithm* algorithm : trial.algorithms) {
    const ConvCandidate candidate{&layout, algorithm, /*all=*/candidates.size() == before};
    if (serves(candidate, layer, trial.compute)) candidates.push_back(candidate);
  }
  if (candidates.size() == before) candidates.push_back({&layout, &convolutionAlgorithms().front()});
}

/// The times of all convolutions in one layout, and of the batch-norms behind them.
struct LayoutTotal {
  std::vector<PassAlgorithms> algorithms;  // by node
  double first = 0;                        // seconds of the first algorithm that supports the layer
  double best = 0;                         // seconds of the fastest for each pass
  double norms = 0;
  double seconds() const { return best + norms; }

  /// `candidates`: those of this layout, the first algorithm first.
  void add(const TrialLayer& layer, std::span<const ConvCandidate> candidates, std::span<const PassSeconds> times,
           double scale) {
    for (size_t pass = 0; pass < convolutionPasses; ++pass) {
      size_t fastest = 0;
      const auto time = [&](size_t i) { return times[i].ofStep(pass, scale); };
      for (size_t i = 1; i < candidates.size(); ++i) {
        if (candidates[i].algorithm->passes[pass] && minSpeedup * time(i) < time(fastest)) fastest = i;
      }
      const ConvolutionAlgorithm* const algorithm = candidates[fastest].algorithm;
      algorithms[layer.node][pass] = algorithm->passes[pass] ? algorithm : &convolutionAlgorithms().front();
      first += time(0);
      best += time(fastest);
    }
  }
};

}  // namespace

CpuKernelChoice fastestCpuKernels(const Graph& graph, const CpuKernelTrial& trial, DeviceThreads& threads,
                                  TimingCache& cache) {
  check(!trial.layouts.empty() && !trial.algorithms.empty(), "fastestCpuKernels: something to choose from");
  const bool isChoice = trial.layouts.size() * trial.algorithms.size() > 1;
  Measurements measurements(trial, threads, cache);
  std::vector<LayoutTotal> totals(trial.layouts.size(), {std::vector<PassAlgorithms>(graph.nodes().size())});
  for (const TrialLayer& layer : convolutionsOf(graph)) {
    std::vector<ConvCandidate> candidates;
    std::vector<size_t> begin;  // index of each layout's first candidate
    for (const LayoutEntry* layout : trial.layouts) {
      begin.push_back(candidates.size());
      addServing(layer, *layout, trial, candidates);
    }
    begin.push_back(candidates.size());
    const auto times = isChoice ? measurements.of(layer, candidates) : std::vector<PassSeconds>(candidates.size());
    const auto norms = totals.size() > 1 ? measurements.ofNorm(layer) : std::vector<double>(1);
    for (size_t i = 0; i < totals.size(); ++i) {
      totals[i].norms += norms[i] * measurements.scale();
      const size_t count = begin[i + 1] - begin[i];
      totals[i].add(layer, std::span(candidates).subspan(begin[i], count), std::span(times).subspan(begin[i], count),
                    measurements.scale());
    }
  }
  size_t fastest = 0;
  for (size_t i = 1; i < totals.size(); ++i) {
    if (layoutWorthChanging * totals[i].seconds() < totals[fastest].seconds()) fastest = i;
  }
  const double gain = isChoice && totals[fastest].best > 0 ? totals.front().first / totals[fastest].best : 1;
  return {trial.layouts[fastest], std::move(totals[fastest].algorithms), gain, measurements.fromCache()};
}

}  // namespace tandem
