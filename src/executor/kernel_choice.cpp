#include "executor/kernel_choice.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "graph/operation.h"
#include "kernels/blocked.h"

namespace tandem {
namespace {

constexpr double worthIt = 1.03;
constexpr int repetitions = 5;
constexpr double enoughSeconds = 0.6;   // of a layer: long calls need no repetition
constexpr int64_t imagesPerThread = 4;  // enough to keep every thread busy
constexpr size_t passes = std::tuple_size_v<PassAlgorithms>;
constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;

/// A convolution with nothing but what its time depends on.
struct Layer {
  size_t node;
  Attributes attributes;
  ImageShape input, output;
  bool wantsInputGradient;

  std::string text() const {
    const Attributes& a = attributes;
    const Padding& p = a.padding;
    return concat(input.channels, 'x', input.height, 'x', input.width, "->", a.outputs, " kernel ", a.kernelH, 'x',
                  a.kernelW, " stride ", a.strideH, 'x', a.strideW, " padding ", p.top, ',', p.bottom, ',', p.left, ',',
                  p.right, " groups ", a.groups, a.bias ? " bias" : "", wantsInputGradient ? "" : " first");
  }
};

/// Least seconds of each pass with `images` images: with weights as they are, and when they have changed.
struct PassSeconds {
  std::array<double, passes> current, changed;

  PassSeconds() {
    current.fill(std::numeric_limits<double>::max());
    changed = current;
  }
  /// REQUIRES: numbers() of another.
  explicit PassSeconds(const std::vector<double>& numbers) {
    std::copy_n(numbers.begin(), passes, current.begin());
    std::copy_n(numbers.begin() + passes, passes, changed.begin());
  }
  std::vector<double> numbers() const {
    std::vector<double> all(current.begin(), current.end());
    all.insert(all.end(), changed.begin(), changed.end());
    return all;
  }
  /// Of a step with `scale` times as many images.
  double ofStep(size_t pass, double scale) const {
    return scale * current[pass] + std::max(0.0, changed[pass] - current[pass]);
  }
};

/// A way to compute a layer.
struct Candidate {
  const LayoutEntry* layout;
  const ConvolutionAlgorithm* algorithm;
};

bool blocksOutput(const Layer& layer, const Candidate& candidate) {
  return candidate.layout->blocked && canBlock(layer.attributes.outputs / layer.attributes.groups);
}

bool blocksInput(const Layer& layer, const Candidate& candidate) {
  return blocksOutput(layer, candidate) && canBlock(layer.input.channels / layer.attributes.groups);
}

/// They lie as parameterSpecs() lets them.
ConvolutionParameters emptyParameters(const Layer& layer, const Candidate& candidate, at::ScalarType type) {
  const Attributes& a = layer.attributes;
  const std::array<int64_t, 4> shape{a.outputs, layer.input.channels / a.groups, a.kernelH, a.kernelW};
  const bool inBlocks = blocksInput(layer, candidate) && type == at::kFloat && a.groups == 1;
  const at::Tensor weight =
      inBlocks ? emptyBlockedWeight(shape) : at::empty(shape, at::TensorOptions(type).memory_format(channelsLast));
  const at::Tensor bias = a.bias ? at::empty({a.outputs}, type) : at::Tensor();
  return {weight, bias, at::empty_like(weight), a.bias ? at::empty_like(bias) : at::Tensor()};
}

/// Null where it does not serve.
std::unique_ptr<Convolution> kernelFor(const Layer& layer, const Candidate& candidate,
                                       const ConvolutionParameters& parameters) {
  const Attributes& a = layer.attributes;
  const Padding& p = a.padding;
  return candidate.algorithm->make(
      {a.strideH, a.strideW, p.top, p.bottom, p.left, p.right, a.groups, blocksOutput(layer, candidate)}, parameters);
}

/// The passes of a layer, as the planned executor calls them.
class Trial {
 public:
  /// REQUIRES: the candidate serves the layer.
  Trial(const Layer& layer, const Candidate& candidate, int64_t images, at::ScalarType type)
      : x_(random({images, layer.input.channels, layer.input.height, layer.input.width}, type)),
        dy_(random({images, layer.output.channels, layer.output.height, layer.output.width}, type)),
        wantsInputGradient_(layer.wantsInputGradient) {
    const ConvolutionParameters parameters = emptyParameters(layer, candidate, type);
    parameters.weight.zero_();
    if (parameters.bias.defined()) parameters.bias.zero_();
    kernel_ = kernelFor(layer, candidate, parameters);
    if (blocksInput(layer, candidate)) x_ = toBlocked(x_);
    if (blocksOutput(layer, candidate)) dy_ = toBlocked(dy_);
  }

  void run(PassSeconds& least) const {
    kernel_->weightsChanged();
    const std::array<std::function<void()>, passes> calls{
        [this] { kernel_->forward(x_); },
        [this] { wantsInputGradient_ ? (void)kernel_->backwardInput(x_, dy_) : void(); },
        [this] { kernel_->backwardParameters(x_, dy_); },
    };
    for (size_t pass = 0; pass < passes; ++pass) {
      least.changed[pass] = std::min(least.changed[pass], secondsOf(calls[pass]));
      least.current[pass] = std::min(least.current[pass], secondsOf(calls[pass]));
    }
  }

 private:
  static double secondsOf(const std::function<void()>& call) {
    const Nanos begin = now();
    call();
    return seconds(now() - begin);
  }
  static at::Tensor random(at::IntArrayRef shape, at::ScalarType type) {
    return at::randn(shape).to(type).contiguous(channelsLast);
  }

  std::unique_ptr<Convolution> kernel_;
  at::Tensor x_, dy_;
  bool wantsInputGradient_;
};

/// The candidates take turns.
std::vector<PassSeconds> measured(const Layer& layer, const std::vector<Candidate>& candidates, int64_t images,
                                  at::ScalarType type) {
  std::vector<Trial> trials;
  for (const Candidate& candidate : candidates) trials.emplace_back(layer, candidate, images, type);
  std::vector<PassSeconds> least(trials.size());
  const Nanos begin = now();
  for (int repetition = 0; repetition < repetitions && seconds(now() - begin) < enoughSeconds; ++repetition) {
    for (size_t i = 0; i < trials.size(); ++i) trials[i].run(least[i]);
  }
  return least;
}

std::vector<Layer> convolutionsOf(const Graph& graph) {
  std::vector<Layer> layers;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.operation->name != "conv") continue;
    layers.push_back(
        {i, node.attributes, graph.inputShapes(node).front(), node.shape, node.inputs.front() != graph.input()});
  }
  return layers;
}

/// Seconds of candidates by layer, from the cache or measured.
class Measurements {
 public:
  Measurements(const KernelTrial& trial, MeasuredCache& cache)
      : trial_(trial), cache_(cache), images_(std::min(trial.images, imagesPerThread * at::get_num_threads())) {}

  /// One per candidate.
  std::vector<PassSeconds> of(const Layer& layer, const std::vector<Candidate>& candidates) {
    std::vector<PassSeconds> seconds;
    for (const Candidate& candidate : candidates) {
      const auto known = cache_.find(keyOf(layer, candidate));
      if (!known || known->size() != 2 * passes) return measuredNow(layer, candidates);
      seconds.emplace_back(*known);
    }
    return seconds;
  }

  double scale() const { return static_cast<double>(trial_.images) / static_cast<double>(images_); }
  bool fromCache() const { return fromCache_; }

 private:
  std::string keyOf(const Layer& layer, const Candidate& candidate) const {
    return concat("convolution | ", trial_.machine, " | ", convolutionLibrary(), " | ", images_, " x ", layer.text(),
                  ' ', c10::toString(trial_.compute), " | ", candidate.layout->name, " | ", candidate.algorithm->name);
  }
  std::vector<PassSeconds> measuredNow(const Layer& layer, const std::vector<Candidate>& candidates) {
    fromCache_ = false;
    auto seconds = measured(layer, candidates, images_, trial_.compute);
    for (size_t i = 0; i < candidates.size(); ++i) cache_.add(keyOf(layer, candidates[i]), seconds[i].numbers());
    return seconds;
  }

  const KernelTrial& trial_;
  MeasuredCache& cache_;
  int64_t images_;
  bool fromCache_ = true;
};

/// Adds the algorithms that serve the layer, or else the one that serves them all.
void addServing(const Layer& layer, const LayoutEntry& layout, const KernelTrial& trial,
                std::vector<Candidate>& candidates) {
  const size_t before = candidates.size();
  for (const ConvolutionAlgorithm* algorithm : trial.algorithms) {
    const Candidate candidate{&layout, algorithm};
    const auto kernel = kernelFor(layer, candidate, emptyParameters(layer, candidate, trial.compute));
    if (kernel) candidates.push_back(candidate);
  }
  if (candidates.size() == before) candidates.push_back({&layout, &convolutionAlgorithms().front()});
}

/// All convolutions in one layout.
struct LayoutTotal {
  std::vector<PassAlgorithms> algorithms;  // by node
  double first = 0;                        // seconds by the first algorithm that serves
  double best = 0;                         // by the fastest of each pass

  /// `candidates`: of this layout, the first algorithm first.
  void add(const Layer& layer, std::span<const Candidate> candidates, std::span<const PassSeconds> times,
           double scale) {
    for (size_t pass = 0; pass < passes; ++pass) {
      size_t fastest = 0;
      const auto time = [&](size_t i) { return times[i].ofStep(pass, scale); };
      for (size_t i = 1; i < candidates.size(); ++i) {
        if (candidates[i].algorithm->passes[pass] && worthIt * time(i) < time(fastest)) fastest = i;
      }
      const ConvolutionAlgorithm* const algorithm = candidates[fastest].algorithm;
      algorithms[layer.node][pass] = algorithm->passes[pass] ? algorithm : &convolutionAlgorithms().front();
      first += time(0);
      best += time(fastest);
    }
  }
};

}  // namespace

KernelChoice fastestKernels(const Graph& graph, const KernelTrial& trial, MeasuredCache& cache) {
  check(!trial.layouts.empty() && !trial.algorithms.empty(), "fastestKernels: something to choose from");
  const at::NoGradGuard noGradients;
  const bool isChoice = trial.layouts.size() * trial.algorithms.size() > 1;
  Measurements measurements(trial, cache);
  std::vector<LayoutTotal> totals(trial.layouts.size(), {std::vector<PassAlgorithms>(graph.nodes().size())});
  for (const Layer& layer : convolutionsOf(graph)) {
    std::vector<Candidate> candidates;
    std::vector<size_t> begin;  // of each layout's
    for (const LayoutEntry* layout : trial.layouts) {
      begin.push_back(candidates.size());
      addServing(layer, *layout, trial, candidates);
    }
    begin.push_back(candidates.size());
    const auto times = isChoice ? measurements.of(layer, candidates) : std::vector<PassSeconds>(candidates.size());
    for (size_t i = 0; i < totals.size(); ++i) {
      const size_t count = begin[i + 1] - begin[i];
      totals[i].add(layer, std::span(candidates).subspan(begin[i], count), std::span(times).subspan(begin[i], count),
                    measurements.scale());
    }
  }
  size_t fastest = 0;
  for (size_t i = 1; i < totals.size(); ++i) {
    if (worthIt * totals[i].best < totals[fastest].best) fastest = i;
  }
  const double gain = isChoice && totals[fastest].best > 0 ? totals.front().first / totals[fastest].best : 1;
  return {trial.layouts[fastest], std::move(totals[fastest].algorithms), gain, measurements.fromCache()};
}

}  // namespace tandem
