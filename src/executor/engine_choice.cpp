#include "executor/engine_choice.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <array>
#include <map>
#include <memory>
#include <string>

#include "graph/operation.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;
constexpr std::array passes{ConvolutionPass::forward, ConvolutionPass::inputGradient, ConvolutionPass::weightGradient};

ConvolutionGeometry geometryOf(const Attributes& a) {
  const Padding& p = a.padding;
  return {a.strideH, a.strideW, p.top, p.bottom, p.left, p.right, a.groups, false};
}

/// What was chosen for a pass, and times.
struct PassResult {
  std::string engine{atenEngine};
  double aten = 0, best = 0;  // seconds; 0 where not known
};

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
    if (tuned.seconds.front() >= 0) result.aten = tuned.seconds.front(), result.best = tuned.seconds[tuned.index];
    return result;
  }

  const EngineTrial& trial_;
  Tuner tuner_;
  std::map<std::string, PassResult> known_;  // by problem
};

}  // namespace

EngineChoice fastestEngines(const Graph& graph, const EngineTrial& trial, MeasuredCache& cache) {
  const at::NoGradGuard noGradients;
  EngineChoice choice;
  choice.engines.resize(graph.nodes().size());
  Choosing choosing(trial, cache);
  double aten = 0, best = 0;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.operation->name != "conv") continue;
    PassEngines& engines = choice.engines[i];
    engines.images = trial.images;
    engines.names.fill(std::string(atenEngine));
    if (!node.attributes.padding.symmetric()) continue;
    for (const ConvolutionPass pass : passes) {
      if (pass == ConvolutionPass::inputGradient && node.inputs.front() == graph.input()) continue;
      const PassResult result = choosing.of(pass, node, graph.inputShapes(node).front());
      engines.names[static_cast<size_t>(pass)] = result.engine;
      aten += result.aten, best += result.best;
    }
  }
  if (best > 0) choice.gain = aten / best;
  choice.fromCache = choosing.fromCache();
  return choice;
}

}  // namespace tandem
