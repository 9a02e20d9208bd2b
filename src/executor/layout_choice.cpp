#include "executor/layout_choice.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "graph/operation.h"
#include "kernels/blocked.h"
#include "kernels/convolution.h"

namespace tandem {
namespace {

constexpr double worthIt = 1.03;
constexpr int repetitions = 5;
constexpr double enoughSeconds = 0.4;   // of a layer: long calls need no repetition
constexpr int64_t imagesPerThread = 4;  // so that weights count no more than in a large batch
constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;

/// A convolution with nothing but what its time depends on.
struct Layer {
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

/// Forward and backward of a layer in one layout, as the planned executor calls them; but weights are packed only once,
/// because with few images that would count too much.
class Trial {
 public:
  Trial(const Layer& layer, int64_t images, at::ScalarType type, bool blocked) : layer_(layer) {
    const Attributes& a = layer.attributes;
    const Padding& p = a.padding;
    blockedOutput_ = blocked && canBlock(a.outputs / a.groups);
    const bool blockedInput = blockedOutput_ && canBlock(layer.input.channels / a.groups);
    const at::Tensor weight = weightFor(layer, type, blockedInput);
    const at::Tensor bias = a.bias ? at::zeros({a.outputs}, type) : at::Tensor();
    const at::Tensor biasGradient = a.bias ? at::empty_like(bias) : at::Tensor();
    kernel_ = makeConvolution({a.strideH, a.strideW, p.top, p.bottom, p.left, p.right, a.groups},
                              {weight, bias, at::empty_like(weight), biasGradient});
    check(kernel_ != nullptr, "fastestLayout: a build with oneDNN");
    x_ = random({images, layer.input.channels, layer.input.height, layer.input.width}, type);
    dy_ = random({images, layer.output.channels, layer.output.height, layer.output.width}, type);
    if (blockedInput) x_ = toBlocked(x_);
    if (blockedOutput_) dy_ = toBlocked(dy_);
  }

  double seconds() {
    const Nanos begin = now();
    kernel_->forward(x_, blockedOutput_);
    kernel_->backwardParameters(x_, dy_);
    if (layer_.wantsInputGradient) kernel_->backwardInput(x_, dy_);
    return tandem::seconds(now() - begin);
  }

 private:
  // As parameterSpecs() lets it lie.
  static at::Tensor weightFor(const Layer& layer, at::ScalarType type, bool blocked) {
    const Attributes& a = layer.attributes;
    const int64_t inputs = layer.input.channels, b = blockChannels();
    if (!blocked || type != at::kFloat || a.groups > 1)
      return random({a.outputs, inputs / a.groups, a.kernelH, a.kernelW}, type);
    return at::randn({a.outputs / b, inputs / b, a.kernelH, a.kernelW, b, b}).permute({0, 5, 1, 4, 2, 3});
  }
  static at::Tensor random(at::IntArrayRef shape, at::ScalarType type) {
    return at::randn(shape).to(type).contiguous(channelsLast);
  }

  Layer layer_;
  std::unique_ptr<Convolution> kernel_;
  at::Tensor x_, dy_;
  bool blockedOutput_ = false;
};

std::vector<const LayoutEntry*> candidates() {
  std::vector<const LayoutEntry*> found;
  for (const LayoutEntry& layout : layouts()) {
    if (layout.format == channelsLast) found.push_back(&layout);
  }
  return found;
}

// Least seconds of a layer in each candidate, which take turns.
std::vector<double> measured(const Layer& layer, int64_t images, at::ScalarType type) {
  std::vector<Trial> trials;
  for (const LayoutEntry* layout : candidates()) trials.emplace_back(layer, images, type, layout->blocked);
  std::vector<double> least(trials.size(), std::numeric_limits<double>::max());
  const Nanos begin = now();
  for (int repetition = 0; repetition < repetitions && seconds(now() - begin) < enoughSeconds; ++repetition) {
    for (size_t i = 0; i < trials.size(); ++i) least[i] = std::min(least[i], trials[i].seconds());
  }
  return least;
}

std::vector<Layer> convolutionsOf(const Graph& graph) {
  std::vector<Layer> layers;
  for (const Node& node : graph.nodes()) {
    if (node.operation->name != "conv") continue;
    layers.push_back(
        {node.attributes, graph.inputShapes(node).front(), node.shape, node.inputs.front() != graph.input()});
  }
  return layers;
}

}  // namespace

LayoutChoice fastestLayout(const Graph& graph, const LayoutTrial& trial, MeasuredCache& cache) {
  const at::NoGradGuard noGradients;
  const int64_t images = std::min(trial.images, imagesPerThread * at::get_num_threads());
  const auto all = candidates();
  std::vector<double> total(all.size(), 0.0);
  LayoutChoice choice;
  for (const Layer& layer : convolutionsOf(graph)) {
    const std::string key = concat("layouts | ", trial.machine, " | ", convolutionLibrary(), " | ", images, " x ",
                                   layer.text(), ' ', c10::toString(trial.compute));
    auto times = cache.find(key);
    if (!times || times->size() != all.size()) {
      times = measured(layer, images, trial.compute);
      cache.add(key, *times);
      choice.fromCache = false;
    }
    for (size_t i = 0; i < all.size(); ++i) total[i] += (*times)[i];
  }
  const auto fastest = static_cast<size_t>(std::ranges::min_element(total) - total.begin());
  const bool wins = total[0] > worthIt * total[fastest];
  choice.layout = all[wins ? fastest : 0];
  choice.gain = wins ? total[0] / total[fastest] : 1;
  return choice;
}

}  // namespace tandem
