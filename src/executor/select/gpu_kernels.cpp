#include "executor/select/gpu_kernels.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "base/text.h"
#include "device/rng.h"
#include "executor/compile/fusion.h"
#include "graph/operation.h"
#include "kernels/cudnn/conv_with_stats.h"
#include "kernels/gpu/dispatch.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;
constexpr std::array passes{ConvolutionPass::forward, ConvolutionPass::inputGradient, ConvolutionPass::weightGradient};

ConvolutionGeometry geometryOf(const Attributes& a) {
  const Padding& p = a.padding;
  return {a.strideH, a.strideW, p.top, p.bottom, p.left, p.right, a.groups, false};
}

/// Seconds by ATen or Tandem's kernels, and by the choice; 0: unknown.
struct Times {
  double first = 0, best = 0;
};

struct PassResult {
  std::string engine{atenName};
  Times times = {};
};

struct NormResult {
  NormPlans engines = {};
  Times times = {};
};

struct StatsResult {
  std::string engine = {};  // empty: convolution and batch-norm apart
  Times times = {};         // of both forward
};

/// The index of the fastest plan; 0: none, because index 0 is ATen or Tandem's kernels.
size_t fastestEngine(const std::vector<double>& seconds) {
  size_t fastest = 0;
  for (size_t i = 1; i < seconds.size(); ++i) {
    if (seconds[i] >= 0 && (fastest == 0 || seconds[i] < seconds[fastest])) fastest = i;
  }
  return fastest;
}

/// The number of gradients that a call's backward gets.
int gradientsOf(const PlannedNode& call) { return std::max(1, call.readers); }

/// For keys: several gradients must be added, at a price that depends on who computes backward.
std::string gradientsText(const PlannedNode& call) {
  return gradientsOf(call) > 1 ? concat(", ", gradientsOf(call), " gradients") : "";
}

class Choosing {
 public:
  Choosing(const Graph& graph, const GpuKernelTrial& trial, TimingCache& cache)
      : graph_(graph), trial_(trial), tuner_(trial.rule, cache), generator_(newGenerator(trial.device, 1)) {}

  PassResult of(ConvolutionPass pass, const Node& node) {
    const Shapes shapes = shapesOf(node);
    const auto problem = problemOf(pass, geometryOf(node.attributes), trial_.compute, shapes.x, shapes.weight);
    const auto [place, isNew] = known_.try_emplace(problem.text());
    if (isNew) place->second = measured(problem, shapes);
    return place->second;
  }

  /// REQUIRES: a batch-norm that ends with a ReLU.
  NormResult of(const PlannedNode& call) {
    const NormActOptions options = optionsOf(call);
    const std::array<int64_t, 4> shape = shapeOf(graph_.node(call.node));
    NormProblem problem;
    problem.type = elementOf(trial_.compute, "batch-norm");
    problem.images = shape[0], problem.channels = shape[1], problem.height = shape[2], problem.width = shape[3];
    problem.residual = call.hasResidual();
    problem.epsilon = options.epsilon, problem.momentum = options.momentum;
    const auto [place, isNew] = knownNorms_.try_emplace(problem.text() + gradientsText(call));
    if (isNew) place->second = measured(problem, call);
    return place->second;
  }

  /// For a batch-norm and the convolution before it. REQUIRES: norm.afterConvolution.
  StatsResult withStats(const PlannedNode& norm) {
    const Node& convolution = graph_.node(norm.inputs.front());
    if (!convolution.attributes.padding.symmetric()) return {};
    const Shapes shapes = shapesOf(convolution);
    ConvolutionProblem problem = problemOf(ConvolutionPass::forward, geometryOf(convolution.attributes), trial_.compute,
                                           shapes.x, shapes.weight);
    problem.sums = true;
    const NormActOptions options = optionsOf(norm);
    const std::string operation = concat(problem.text(), ", batch-norm", norm.hasResidual() ? " + add" : "",
                                         norm.activation == Activation::relu ? " + relu" : "", " epsilon ",
                                         options.epsilon, " momentum ", options.momentum);
    const auto [place, isNew] = knownStats_.try_emplace(operation);
    if (isNew) place->second = measured(operation, problem, shapes, norm);
    return place->second;
  }

  const Measured& measured() const { return tuner_.measured(); }

 private:
  struct Shapes {
    std::array<int64_t, 4> x, weight, y;
  };

  std::array<int64_t, 4> shapeOf(const Node& node) const {
    return {trial_.images, node.shape.channels, node.shape.height, node.shape.width};
  }

  /// The shapes of a convolution.
  Shapes shapesOf(const Node& node) const {
    const Attributes& a = node.attributes;
    ImageShape input = graph_.inputShapes(node).front();
    if (node.inputs.front() == graph_.input()) input.channels += trial_.zeroChannels;
    return {{trial_.images, input.channels, input.height, input.width},
            {a.outputs, input.channels / a.groups, a.kernelH, a.kernelW},
            shapeOf(node)};
  }

  /// The options of a batch-norm in training.
  NormActOptions optionsOf(const PlannedNode& norm) const {
    const Attributes& a = graph_.node(norm.node).attributes;
    return {a.epsilon, a.momentum, norm.activation, true};
  }

  at::Tensor perChannel(int64_t channels, double value) const {
    return at::full({channels}, value, at::TensorOptions(at::kFloat).device(trial_.device));
  }

  NormParameters normParameters(int64_t channels) const {
    return {perChannel(channels, 1), perChannel(channels, 0.1), perChannel(channels, 0), perChannel(channels, 1)};
  }

  at::Tensor random(at::IntArrayRef shape) const {
    const auto options = at::TensorOptions(trial_.compute).device(trial_.device).memory_format(channelsLast);
    return at::empty(shape, options).normal_(0, 1, generator_);
  }

  PassResult measured(const ConvolutionProblem& problem, const Shapes& shapes) {
    const std::shared_ptr<ExecutionPlans> engines = trial_.engines(problem);
    if (!engines) return {};
    const ConvolutionTensors tensors{random(shapes.x), random(shapes.weight), random(shapes.y)};
    const auto candidates = convolutionCandidates(problem.pass, problem.geometry, tensors, engines);
    const Tuned tuned = tuner_.fastest(problem.text(), candidates);
    PassResult result{candidates[tuned.index].name};
    if (tuned.seconds.front() >= 0) result.times = {tuned.seconds.front(), tuned.seconds[tuned.index]};
    return result;
  }

  NormSubject normSubject(const PlannedNode& norm) const {
    const std::array<int64_t, 4> shape = shapeOf(graph_.node(norm.node));
    NormSubject subject{.x = random(shape).add_(0.5),
                        .residual = norm.hasResidual() ? random(shape) : at::Tensor(),
                        .outputGradients = {},
                        .parameters = normParameters(shape[1]),
                        .options = optionsOf(norm)};
    for (int i = 0; i < gradientsOf(norm); ++i) subject.outputGradients.push_back(random(shape));
    return subject;
  }

  NormResult measured(NormProblem problem, const PlannedNode& norm) {
    // A pair is chosen, because a plan of backward reads the mask that forward's plan wrote. First the fastest forward,
    // then with its mask the fastest backward.
    const std::shared_ptr<ExecutionPlans> forward = trial_.norms(problem);
    const std::string forwardText = problem.text();
    problem.backward = true;
    const std::shared_ptr<ExecutionPlans> backward = forward ? trial_.norms(problem) : nullptr;
    if (!backward) return {};
    const NormSubject subject = normSubject(norm);
    const auto forwards = normForwardCandidates(subject, forward);
    const std::vector<double> ofForward = tuner_.fastest(forwardText, forwards).seconds;
    const size_t first = fastestEngine(ofForward);
    const auto bytes = first > 0 ? forwards[first].prepare() : std::nullopt;
    if (!bytes) return {};
    const auto run = [=](std::span<const at::Tensor> tensors) { executePlan(*forward, first - 1, *bytes, tensors); };
    const auto backwards = normBackwardCandidates(subject, run, backward);
    const std::vector<double> ofBackward = tuner_.fastest(problem.text() + gradientsText(norm), backwards).seconds;
    const size_t second = fastestEngine(ofBackward);
    const double own = ofForward.front() + ofBackward.front(), engines = ofForward[first] + ofBackward[second];
    if (ofForward.front() < 0 || ofBackward.front() < 0) return {};
    if (second == 0 || trial_.rule.margin * engines >= own || !backwards[second].prepare()) {
      return {{}, {own, own}};
    }
    return {{trial_.images, forwards[first].name, backwards[second].name}, {own, engines}};
  }

  StatsSubject statsSubject(const ConvolutionProblem& problem, const Shapes& shapes, const PlannedNode& norm) const {
    const int64_t channels = shapes.y[1];
    // A plan that writes no sums leaves NaN, and is found wrong.
    const auto notANumber = [&] { return perChannel(channels, std::numeric_limits<double>::quiet_NaN()); };
    const ConvolutionTensors tensors{
        random(shapes.x).add_(0.5), random(shapes.weight), random(shapes.y), {notANumber(), notANumber()}};
    const std::string aten(atenName);
    return {.convolution = makeCudnnConvolution(problem.geometry, {tensors.weight, {}, {}, {}},
                                                {trial_.images, {aten, aten, aten}}, trial_.engines),
            .tensors = tensors,
            .residual = norm.hasResidual() ? random(shapes.y) : at::Tensor(),
            .parameters = normParameters(channels),
            .options = optionsOf(norm)};
  }

  StatsResult measured(const std::string& operation, const ConvolutionProblem& problem, const Shapes& shapes,
                       const PlannedNode& norm) {
    const std::shared_ptr<ExecutionPlans> engines = trial_.engines(problem);
    if (!engines) return {};
    const auto candidates = statsCandidates(statsSubject(problem, shapes, norm), engines);
    const Tuned tuned = tuner_.fastest(operation, candidates);
    if (tuned.index == 0 || tuned.seconds.front() < 0) return {};
    return {candidates[tuned.index].name, {tuned.seconds.front(), tuned.seconds[tuned.index]}};
  }

  const Graph& graph_;
  const GpuKernelTrial& trial_;
  Tuner tuner_;
  at::Generator generator_;                  // its own, so that a measurement draws no numbers of a run
  std::map<std::string, PassResult> known_;  // by problem
  std::map<std::string, NormResult> knownNorms_;
  std::map<std::string, StatsResult> knownStats_;  // by both operations
};

/// Replaces convolutions and the batch-norms behind them by pairs that are faster together. In a pair Tandem's kernels
/// do the rest of the batch-norm.
void chooseStats(const Graph& graph, at::Device device, Choosing& choosing, GpuKernelChoice& choice, Times& total) {
  for (const PlannedNode& call : fuse(graph, device)) {
    if (!call.afterConvolution) continue;
    const StatsResult result = choosing.withStats(call);
    choice.engines[static_cast<size_t>(call.inputs.front())].withStats = result.engine;
    total.first += result.times.first, total.best += result.times.best;
  }
}

/// Of what is in no pair.
void chooseConvolutions(const Graph& graph, const GpuKernelTrial& trial, Choosing& choosing, GpuKernelChoice& choice,
                        Times& total) {
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (!node.operation->traits.convolution) continue;
    PassPlans& engines = choice.engines[i];
    if (!node.attributes.padding.symmetric()) continue;
    const bool readsImages = node.inputs.front() == graph.input();
    for (const ConvolutionPass pass : passes) {
      if (pass != ConvolutionPass::forward && trial.forwardOnly) break;
      if (pass == ConvolutionPass::forward && !engines.withStats.empty()) continue;
      if (pass == ConvolutionPass::inputGradient && readsImages) continue;
      const PassResult result = choosing.of(pass, node);
      engines.names[static_cast<size_t>(pass)] = result.engine;
      total.first += result.times.first, total.best += result.times.best;
    }
  }
}

/// Of the batch-norms that are in no pair.
void chooseNorms(const Graph& graph, at::Device device, Choosing& choosing, GpuKernelChoice& choice, Times& total) {
  for (const PlannedNode& call : fuse(graph, device)) {
    if (!graph.node(call.node).operation->traits.batchNorm || call.activation != Activation::relu) continue;
    if (call.afterConvolution && !choice.engines[static_cast<size_t>(call.inputs.front())].withStats.empty()) continue;
    const NormResult result = choosing.of(call);
    choice.norms[static_cast<size_t>(call.node)] = result.engines;
    total.first += result.times.first, total.best += result.times.best;
  }
}

}  // namespace

GpuKernelChoice fastestGpuKernels(const Graph& graph, const GpuKernelTrial& trial, TimingCache& cache) {
  const at::NoGradGuard noGradients;
  GpuKernelChoice choice;
  for (const Node& node : graph.nodes()) {
    const std::string name(node.operation->traits.convolution ? atenName : "");
    choice.engines.push_back({node.operation->traits.convolution ? trial.images : 0, {name, name, name}});
  }
  choice.norms.resize(graph.nodes().size());
  Choosing choosing(graph, trial, cache);
  Times total;
  // What gains the most comes first, because time may run out. On an H100 in fp16 these are convolutions with
  // statistics. Batch-norms come last: building one of their plans takes a second.
  if (!trial.forwardOnly) chooseStats(graph, trial.device, choosing, choice, total);
  chooseConvolutions(graph, trial, choosing, choice, total);
  if (trial.norms && !trial.forwardOnly) chooseNorms(graph, trial.device, choosing, choice, total);
  if (total.best > 0) choice.gain = total.first / total.best;
  choice.measured = choosing.measured();
  choice.notes = planNotes();
  choice.fromCache = choice.measured.fromCache();
  return choice;
}

}  // namespace tandem
