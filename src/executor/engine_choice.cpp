#include "executor/engine_choice.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <array>
#include <map>
#include <memory>
#include <string>

#include "executor/fusion.h"
#include "graph/operation.h"
#include "kernels/launch.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;
constexpr std::array passes{ConvolutionPass::forward, ConvolutionPass::inputGradient, ConvolutionPass::weightGradient};

ConvolutionGeometry geometryOf(const Attributes& a) {
  const Padding& p = a.padding;
  return {a.strideH, a.strideW, p.top, p.bottom, p.left, p.right, a.groups, false};
}

/// Seconds by ATen or Tandem's kernels, and of what was chosen; 0 where they are not known.
struct Times {
  double first = 0, best = 0;
};

struct PassResult {
  std::string engine{atenEngine};
  Times times = {};
};

struct NormResult {
  NormEngines engines = {};
  Times times = {};
};

/// The fastest after the first one; 0: none.
size_t fastestEngine(const std::vector<double>& seconds) {
  size_t fastest = 0;
  for (size_t i = 1; i < seconds.size(); ++i) {
    if (seconds[i] >= 0 && (fastest == 0 || seconds[i] < seconds[fastest])) fastest = i;
  }
  return fastest;
}

class Choosing {
 public:
  Choosing(const EngineTrial& trial, MeasuredCache& cache) : trial_(trial), tuner_(trial.rule, cache) {}

  PassResult of(ConvolutionPass pass, const Node& node, const ImageShape& input) {
    const Attributes& a = node.attributes;
    const Shapes shapes{{trial_.images, input.channels, input.height, input.width},
                        {a.outputs, input.channels / a.groups, a.kernelH, a.kernelW},
                        {trial_.images, node.shape.channels, node.shape.height, node.shape.width}};
    const auto problem = problemOf(pass, geometryOf(a), trial_.compute, shapes.x, shapes.weight);
    const auto [place, isNew] = known_.try_emplace(problem.text());
    if (isNew) place->second = measured(problem, shapes);
    return place->second;
  }

  /// REQUIRES: a batch-norm that ends with a ReLU.
  NormResult of(const PlannedNode& call, const Node& node) {
    const NormActOptions options{node.attributes.epsilon, node.attributes.momentum, true, true};
    const std::array<int64_t, 4> shape{trial_.images, node.shape.channels, node.shape.height, node.shape.width};
    NormProblem problem;
    problem.type = elementOf(trial_.compute, "batch-norm");
    problem.images = shape[0], problem.channels = shape[1], problem.height = shape[2], problem.width = shape[3];
    problem.residual = call.hasResidual();
    problem.epsilon = options.epsilon, problem.momentum = options.momentum;
    const auto [place, isNew] = knownNorms_.try_emplace(problem.text());
    if (isNew) place->second = measured(problem, shape, options);
    return place->second;
  }
  bool fromCache() const { return tuner_.fromCache(); }

 private:
  struct Shapes {
    std::array<int64_t, 4> x, weight, y;
  };

  at::Tensor random(at::IntArrayRef shape) const {
    const auto options = at::TensorOptions(trial_.compute).device(trial_.device).memory_format(channelsLast);
    return at::empty(shape, options).normal_();
  }

  PassResult measured(const ConvolutionProblem& problem, const Shapes& shapes) {
    const std::shared_ptr<Engines> engines = trial_.engines(problem);
    if (!engines) return {};
    const ConvolutionTensors tensors{random(shapes.x), random(shapes.weight), random(shapes.y)};
    const auto candidates = convolutionCandidates(problem.pass, problem.geometry, tensors, engines);
    const Tuned tuned = tuner_.fastest(problem.text(), candidates);
    PassResult result{candidates[tuned.index].name};
    if (tuned.seconds.front() >= 0) result.times = {tuned.seconds.front(), tuned.seconds[tuned.index]};
    return result;
  }

  NormSubject normSubject(at::IntArrayRef shape, bool residual, const NormActOptions& options) const {
    const auto perChannel = [&](double value) {
      return at::full({shape[1]}, value, at::TensorOptions(at::kFloat).device(trial_.device));
    };
    return {.x = random(shape).add_(0.5),
            .residual = residual ? random(shape) : at::Tensor(),
            .dy = random(shape),
            .parameters = {perChannel(1), perChannel(0.1), perChannel(0), perChannel(1)},
            .options = options};
  }

  NormResult measured(NormProblem problem, at::IntArrayRef shape, const NormActOptions& options) {
    const std::shared_ptr<Engines> forward = trial_.norms(problem);
    const std::string forwardText = problem.text();
    problem.backward = true;
    const std::shared_ptr<Engines> backward = forward ? trial_.norms(problem) : nullptr;
    if (!backward) return {};
    const NormSubject subject = normSubject(shape, problem.residual, options);
    const auto forwards = normForwardCandidates(subject, forward);
    const std::vector<double> ofForward = tuner_.fastest(forwardText, forwards).seconds;
    const size_t first = fastestEngine(ofForward);
    const auto bytes = first > 0 ? forwards[first].prepare() : std::nullopt;
    if (!bytes) return {};
    const auto run = [=](std::span<const at::Tensor> tensors) { runEngine(*forward, first - 1, *bytes, tensors); };
    const auto backwards = normBackwardCandidates(subject, run, backward);
    const std::vector<double> ofBackward = tuner_.fastest(problem.text(), backwards).seconds;
    const size_t second = fastestEngine(ofBackward);
    const double own = ofForward.front() + ofBackward.front(), engines = ofForward[first] + ofBackward[second];
    if (ofForward.front() < 0 || ofBackward.front() < 0) return {};
    if (second == 0 || worthChanging * engines >= own || !backwards[second].prepare()) return {{}, {own, own}};
    return {{trial_.images, forwards[first].name, backwards[second].name}, {own, engines}};
  }

  const EngineTrial& trial_;
  Tuner tuner_;
  std::map<std::string, PassResult> known_;  // by problem
  std::map<std::string, NormResult> knownNorms_;
};

void chooseConvolutions(const Graph& graph, const EngineTrial& trial, Choosing& choosing, EngineChoice& choice,
                        Times& total) {
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.operation->name != "conv") continue;
    PassEngines& engines = choice.engines[i];
    engines.images = trial.images;
    engines.names.fill(std::string(atenEngine));
    if (!node.attributes.padding.symmetric()) continue;
    const bool readsImages = node.inputs.front() == graph.input();
    ImageShape input = graph.inputShapes(node).front();
    if (readsImages) input.channels += trial.zeroChannels;
    for (const ConvolutionPass pass : passes) {
      if (pass != ConvolutionPass::forward && trial.forwardOnly) break;
      if (pass == ConvolutionPass::inputGradient && readsImages) continue;
      const PassResult result = choosing.of(pass, node, input);
      engines.names[static_cast<size_t>(pass)] = result.engine;
      total.first += result.times.first, total.best += result.times.best;
    }
  }
}

void chooseNorms(const Graph& graph, Choosing& choosing, EngineChoice& choice, Times& total) {
  for (const PlannedNode& call : fuse(graph)) {
    const Node& node = graph.node(call.node);
    if (node.operation->name != "batch_norm" || !call.relu) continue;
    const NormResult result = choosing.of(call, node);
    choice.norms[static_cast<size_t>(call.node)] = result.engines;
    total.first += result.times.first, total.best += result.times.best;
  }
}

}  // namespace

EngineChoice fastestEngines(const Graph& graph, const EngineTrial& trial, MeasuredCache& cache) {
  const at::NoGradGuard noGradients;
  EngineChoice choice;
  choice.engines.resize(graph.nodes().size());
  choice.norms.resize(graph.nodes().size());
  Choosing choosing(trial, cache);
  Times total;
  chooseConvolutions(graph, trial, choosing, choice, total);
  if (trial.norms && !trial.forwardOnly) chooseNorms(graph, choosing, choice, total);
  if (total.best > 0) choice.gain = total.first / total.best;
  choice.fromCache = choosing.fromCache();
  return choice;
}

}  // namespace tandem
