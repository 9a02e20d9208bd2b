#include "executor/select/cpu_kernels.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <span>

#include "autotune/interleaved_timing.h"
#include "base/error.h"
#include "base/text.h"
#include "executor/select/conv_error.h"
#include "executor/select/conv_timing.h"
#include "graph/operation.h"

namespace tandem {
namespace {

constexpr double layoutWorthChanging = 1.01;       // less than for one layer: a sum over all layers is more exact
constexpr const char* ownKernels = ", kernels 5";  // counted up when one of our kernels becomes faster or slower
constexpr int64_t imagesPerThread = 4;             // of a call: enough to keep every thread busy
constexpr double largestError = 10;                // of a pass that can be: a cache may hold anything
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

/// A layer with its candidates, layout by layout, the first algorithm of each layout first.
struct LayerTrial {
  TrialLayer layer;
  std::vector<ConvCandidate> candidates = {};
  std::vector<size_t> begin = {};  // index of each layout's first candidate, and their number
};

/// Multiplications of a forward pass.
int64_t workOf(const TrialLayer& layer) {
  const Attributes& a = layer.attributes;
  return layer.output.channels * layer.output.height * layer.output.width * a.kernelH * a.kernelW *
         layer.input.channels / a.groups;
}

/// Seconds of each layer's candidates, from the cache or measured.
class Measurements {
 public:
  Measurements(const CpuKernelTrial& trial, DeviceThreads& threads, TimingCache& cache)
      : trial_(trial), threads_(threads), cache_(cache) {
    size_.ofCall = std::min(trial.images, imagesPerThread * trial.threads);
    size_.images = std::min(trial.images / size_.ofCall, parts) * size_.ofCall;
  }

  /// Measures what is not known. Layers with the most work in a step come first. `layers` outlives the call.
  void take(const std::vector<LayerTrial>& layers, const std::function<StepSeconds()>& step) {
    std::map<std::string, int64_t> work;  // of all layers alike
    for (const LayerTrial& each : layers) work[each.layer.text()] += workOf(each.layer);
    std::vector<const LayerTrial*> order;
    for (const LayerTrial& each : layers) order.push_back(&each);
    std::ranges::stable_sort(order, std::greater(), [&](const LayerTrial* each) { return work[each->layer.text()]; });
    std::vector<MeasuringJob> jobs;
    for (const LayerTrial* each : order) {
      addUnlessThere(jobs, convolutionJob(*each));
      if (std::isfinite(trial_.accuracy)) addUnlessThere(jobs, errorJob(*each));
      if (each->layer.normalised && trial_.layouts.size() > 1) addUnlessThere(jobs, normJob(each->layer));
    }
    MeasuringTime time(trial_.measuring);
    measured_ = measureJobs(jobs, time, cache_, [&](const Timings& soFar) {
      measured_.timings = soFar;
      return step();
    });
  }

  /// One per candidate; zeros for a layer that was postponed.
  std::vector<PassSeconds> of(const LayerTrial& trial) const {
    std::vector<PassSeconds> seconds;
    for (const ConvCandidate& candidate : trial.candidates) {
      const auto found = measured_.timings.find(keyOf(trial.layer, candidate));
      seconds.push_back(found == measured_.timings.end() ? PassSeconds() : PassSeconds(found->second.numbers));
    }
    return seconds;
  }

  /// Which candidates are exact enough for each pass, one per candidate. Those of one layout are compared with its
  /// first. Where the errors were postponed, only the first is.
  std::vector<PassMarks> accurate(const LayerTrial& trial) const {
    constexpr PassMarks all{true, true, true};
    if (!std::isfinite(trial_.accuracy)) return std::vector<PassMarks>(trial.candidates.size(), all);
    std::vector<PassErrors> errors;
    for (const ConvCandidate& candidate : trial.candidates) {
      const auto found = measured_.timings.find(errorKeyOf(trial.layer, candidate));
      if (found == measured_.timings.end()) return onlyFirsts(trial);
      std::ranges::copy(found->second.numbers, errors.emplace_back().begin());
    }
    return accurateEnough(errors, trial.candidates, trial_.accuracy);
  }

  /// For the batch-norm that follows the layer, one per layout of the trial; 0 if none follows or it was postponed.
  std::vector<double> ofNorm(const TrialLayer& layer) const {
    std::vector<double> seconds;
    for (const LayoutEntry* layout : trial_.layouts) {
      const auto found = layer.normalised ? measured_.timings.find(normKeyOf(layer, layout)) : measured_.timings.end();
      seconds.push_back(found == measured_.timings.end() ? 0 : found->second.numbers.front());
    }
    return seconds;
  }

  double scale() const { return static_cast<double>(trial_.images) / static_cast<double>(size_.ofCall); }
  const Measured& measured() const { return measured_; }

 private:
  std::string sized(const std::string& shape) const {
    return concat(size_.ofCall, " of ", size_.images, " x ", shape, ' ', c10::toString(trial_.compute));
  }

  std::string keyOf(const TrialLayer& layer, const ConvCandidate& candidate) const {
    return concat("convolution | ", trial_.machine, " | ", convolutionLibrary(), ownKernels, " | ", sized(layer.text()),
                  " | ", candidate.layout->name, " | ", candidate.algorithm->name, candidate.all ? "" : ", own passes");
  }

  std::string errorKeyOf(const TrialLayer& layer, const ConvCandidate& candidate) const {
    return "error of " + keyOf(layer, candidate);
  }

  static std::vector<PassMarks> onlyFirsts(const LayerTrial& trial) {
    std::vector<PassMarks> marks(trial.candidates.size());
    for (size_t layout = 0; layout + 1 < trial.begin.size(); ++layout) marks[trial.begin[layout]].fill(true);
    return marks;
  }

  std::string normKeyOf(const TrialLayer& layer, const LayoutEntry* layout) const {
    const ImageShape& s = layer.output;
    return concat("batch_norm | ", trial_.machine, ownKernels, " | ",
                  sized(concat(s.channels, 'x', s.height, 'x', s.width, " groups ", layer.attributes.groups)), " | ",
                  layout->name);
  }

  MeasuringJob convolutionJob(const LayerTrial& trial) {
    MeasuringJob job{.numbers = PassSeconds().numbers().size(), .timings = [this, &trial] {
                       return convolutionTimings(trial.layer, trial.candidates, size_, trial_.compute, threads_);
                     }};
    job.isPlausible = [&trial](size_t i, const auto& numbers) {
      return arePlausible(numbers, trial.layer, trial.candidates[i]);
    };
    for (const ConvCandidate& candidate : trial.candidates) job.keys.push_back(keyOf(trial.layer, candidate));
    return job;
  }

  MeasuringJob errorJob(const LayerTrial& trial) {
    MeasuringJob job{.numbers = convolutionPasses, .timings = [this, &trial] {
                       std::vector<Timing> timings;
                       threads_.run([&](size_t replica) {
                         if (replica != 0) return;
                         for (const PassErrors& each : convolutionErrors(trial.layer, trial.candidates, trial_.compute))
                           timings.push_back({.numbers = {each.begin(), each.end()}});
                       });
                       return timings;
                     }};
    job.isPlausible = [](size_t, const auto& errors) {  // of a result of zeros: 1
      return std::ranges::all_of(errors, [](double error) { return error >= 0 && error <= largestError; });
    };
    for (const ConvCandidate& candidate : trial.candidates) job.keys.push_back(errorKeyOf(trial.layer, candidate));
    return job;
  }

  MeasuringJob normJob(const TrialLayer& layer) {
    MeasuringJob job{
        .timings = [this, &layer] { return normTimings(layer, trial_.layouts, size_, trial_.compute, threads_); }};
    for (const LayoutEntry* layout : trial_.layouts) job.keys.push_back(normKeyOf(layer, layout));
    return job;
  }

  /// Of layers that are alike, and of batch-norms that are, one is measured.
  static void addUnlessThere(std::vector<MeasuringJob>& jobs, MeasuringJob job) {
    if (std::ranges::find(jobs, job.keys, &MeasuringJob::keys) == jobs.end()) jobs.push_back(std::move(job));
  }

  const CpuKernelTrial& trial_;
  DeviceThreads& threads_;
  TimingCache& cache_;
  TrialSize size_{};
  Measured measured_;
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
           std::span<const PassMarks> accurate, double scale) {
    for (size_t pass = 0; pass < convolutionPasses; ++pass) {
      size_t fastest = 0;
      const auto time = [&](size_t i) { return times[i].ofStep(pass, scale); };
      for (size_t i = 1; i < candidates.size(); ++i) {
        const bool may = candidates[i].algorithm->passes[pass] && accurate[i][pass];
        if (may && minSpeedup * time(i) < time(fastest)) fastest = i;
      }
      const ConvolutionAlgorithm* const algorithm = candidates[fastest].algorithm;
      algorithms[layer.node][pass] = algorithm->passes[pass] ? algorithm : &convolutionAlgorithms().front();
      first += time(0);
      best += time(fastest);
    }
  }
};

std::vector<LayerTrial> trialsOf(const Graph& graph, const CpuKernelTrial& trial) {
  std::vector<LayerTrial> layers;
  for (const TrialLayer& layer : convolutionsOf(graph)) {
    LayerTrial& each = layers.emplace_back(LayerTrial{layer});
    for (const LayoutEntry* layout : trial.layouts) {
      each.begin.push_back(each.candidates.size());
      addServing(each.layer, *layout, trial, each.candidates);
    }
    each.begin.push_back(each.candidates.size());
  }
  return layers;
}

/// One per layout of the trial.
std::vector<LayoutTotal> totalsOf(const Graph& graph, const std::vector<LayerTrial>& layers,
                                  const Measurements& measurements, size_t layouts) {
  std::vector<LayoutTotal> totals(layouts, {std::vector<PassAlgorithms>(graph.nodes().size())});
  for (const LayerTrial& each : layers) {
    const std::vector<PassSeconds> times = measurements.of(each);
    const std::vector<double> norms = measurements.ofNorm(each.layer);
    const std::vector<PassMarks> accurate = measurements.accurate(each);
    for (size_t i = 0; i < totals.size(); ++i) {
      const size_t first = each.begin[i], count = each.begin[i + 1] - first;
      totals[i].norms += norms[i] * measurements.scale();
      totals[i].add(each.layer, std::span(each.candidates).subspan(first, count),
                    std::span(times).subspan(first, count), std::span(accurate).subspan(first, count),
                    measurements.scale());
    }
  }
  return totals;
}

size_t fastestOf(const std::vector<LayoutTotal>& totals) {
  size_t fastest = 0;
  for (size_t i = 1; i < totals.size(); ++i) {
    if (layoutWorthChanging * totals[i].seconds() < totals[fastest].seconds()) fastest = i;
  }
  return fastest;
}

}  // namespace

CpuKernelChoice fastestCpuKernels(const Graph& graph, const CpuKernelTrial& trial, DeviceThreads& threads,
                                  TimingCache& cache) {
  check(!trial.layouts.empty() && !trial.algorithms.empty(), "fastestCpuKernels: something to choose from");
  const std::vector<LayerTrial> layers = trialsOf(graph, trial);
  Measurements measurements(trial, threads, cache);
  const auto totals = [&] { return totalsOf(graph, layers, measurements, trial.layouts.size()); };
  const auto step = [&] {
    const std::vector<LayoutTotal> all = totals();
    return StepSeconds{all.front().first + all.front().norms, all[fastestOf(all)].seconds()};
  };
  if (trial.layouts.size() * trial.algorithms.size() > 1) measurements.take(layers, step);
  std::vector<LayoutTotal> all = totals();
  const size_t fastest = fastestOf(all);
  const double gain = all[fastest].best > 0 ? all.front().first / all[fastest].best : 1;
  return {trial.layouts[fastest], std::move(all[fastest].algorithms), gain, measurements.measured().fromCache(),
          measurements.measured()};
}

}  // namespace tandem
