#include "executor/convolution_trial.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "base/clock.h"
#include "base/text.h"
#include "kernels/blocked.h"
#include "kernels/norm_act.h"

namespace tandem {
namespace {

constexpr int repetitions = 5;
constexpr double enoughSeconds = 0.6;  // of a layer: long calls need no repetition
constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;

bool blocksOutput(const TrialLayer& layer, const LayoutEntry& layout) {
  return layout.blocked && canBlock(layer.attributes.outputs / layer.attributes.groups);
}

bool blocksInput(const TrialLayer& layer, const LayoutEntry& layout) {
  return blocksOutput(layer, layout) && canBlock(layer.input.channels / layer.attributes.groups);
}

/// They lie as parameterSpecs() lets them.
ConvolutionParameters emptyParameters(const TrialLayer& layer, const LayoutEntry& layout, at::ScalarType type) {
  const Attributes& a = layer.attributes;
  const std::array<int64_t, 4> shape{a.outputs, layer.input.channels / a.groups, a.kernelH, a.kernelW};
  const bool inBlocks = blocksInput(layer, layout) && type == at::kFloat && a.groups == 1;
  const at::Tensor weight =
      inBlocks ? emptyBlockedWeight(shape) : at::empty(shape, at::TensorOptions(type).memory_format(channelsLast));
  const at::Tensor bias = a.bias ? at::empty({a.outputs}, type) : at::Tensor();
  return {weight, bias, at::empty_like(weight), a.bias ? at::empty_like(bias) : at::Tensor()};
}

/// Null where it does not serve.
std::unique_ptr<Convolution> kernelFor(const TrialLayer& layer, const Candidate& candidate,
                                       const ConvolutionParameters& parameters) {
  const Attributes& a = layer.attributes;
  const Padding& p = a.padding;
  return candidate.algorithm->make(
      {a.strideH, a.strideW, p.top, p.bottom, p.left, p.right, a.groups, blocksOutput(layer, *candidate.layout)},
      parameters);
}

/// Images, of which calls take a part in turn: as in a step, a call does not find them in a cache that is too small for
/// all.
class Images {
 public:
  Images(const ImageShape& shape, const TrialSize& size, at::ScalarType type)
      : size_(size),
        plain_(at::randn({size.images, shape.channels, shape.height, shape.width}).to(type).contiguous(channelsLast)) {}

  /// Of the call with this number.
  at::Tensor ofCall(int64_t call, bool blocked) {
    if (blocked && !blocked_.defined()) blocked_ = toBlocked(plain_);
    const at::Tensor& all = blocked ? blocked_ : plain_;
    const int64_t rows = all.size(0) / size_.images * size_.ofCall;
    return all.narrow(0, call % (size_.images / size_.ofCall) * rows, rows);
  }

 private:
  TrialSize size_;
  at::Tensor plain_, blocked_;
};

struct Sides {
  Images x, dy;
};

/// The passes of a layer, as the planned executor calls them.
class Trial {
 public:
  /// REQUIRES: the candidate serves the layer. `sides` outlives it.
  Trial(const TrialLayer& layer, const Candidate& candidate, Sides& sides, at::ScalarType type)
      : sides_(sides),
        blocksInput_(blocksInput(layer, *candidate.layout)),
        blocksOutput_(blocksOutput(layer, *candidate.layout)),
        wantsInputGradient_(layer.wantsInputGradient) {
    const ConvolutionParameters parameters = emptyParameters(layer, *candidate.layout, type);
    parameters.weight.zero_();
    if (parameters.bias.defined()) parameters.bias.zero_();
    kernel_ = kernelFor(layer, candidate, parameters);
  }

  void run(PassSeconds& least) {
    kernel_->weightsChanged();
    using Call = std::function<void(const at::Tensor&, const at::Tensor&)>;
    const std::array<Call, convolutionPasses> calls{
        [this](const at::Tensor& x, const at::Tensor&) { kernel_->forward(x); },
        [this](const at::Tensor& x, const at::Tensor& dy) {
          if (wantsInputGradient_) kernel_->backwardInput(x, dy);
        },
        [this](const at::Tensor& x, const at::Tensor& dy) { kernel_->backwardParameters(x, dy); },
    };
    for (size_t pass = 0; pass < convolutionPasses; ++pass) {
      for (double* const seconds : {&least.changed[pass], &least.current[pass]}) {
        *seconds = std::min(*seconds, secondsOf(calls[pass]));
      }
    }
  }

 private:
  template <class Call>
  double secondsOf(const Call& call) {
    const at::Tensor x = sides_.x.ofCall(calls_, blocksInput_), dy = sides_.dy.ofCall(calls_, blocksOutput_);
    ++calls_;
    const Nanos begin = now();
    call(x, dy);
    return seconds(now() - begin);
  }

  std::unique_ptr<Convolution> kernel_;
  Sides& sides_;
  int64_t calls_ = 0;
  bool blocksInput_, blocksOutput_, wantsInputGradient_;
};

/// A batch-norm as the planned executor calls it.
double secondsOfNorm(const NormParameters& parameters, const at::Tensor& x, const at::Tensor& dy) {
  const NormActOptions options{.relu = true};
  NormActSaved saved;
  const Nanos begin = now();
  normAct(x, {}, parameters, options, saved);
  normActBackward({dy}, saved, false, options);
  return seconds(now() - begin);
}

}  // namespace

std::string TrialLayer::text() const {
  const Attributes& a = attributes;
  const Padding& p = a.padding;
  return concat(input.channels, 'x', input.height, 'x', input.width, "->", a.outputs, " kernel ", a.kernelH, 'x',
                a.kernelW, " stride ", a.strideH, 'x', a.strideW, " padding ", p.top, ',', p.bottom, ',', p.left, ',',
                p.right, " groups ", a.groups, a.bias ? " bias" : "", wantsInputGradient ? "" : " first");
}

PassSeconds::PassSeconds() {
  current.fill(std::numeric_limits<double>::max());
  changed = current;
}

PassSeconds::PassSeconds(const std::vector<double>& numbers) {
  std::copy_n(numbers.begin(), convolutionPasses, current.begin());
  std::copy_n(numbers.begin() + convolutionPasses, convolutionPasses, changed.begin());
}

std::vector<double> PassSeconds::numbers() const {
  std::vector<double> all(current.begin(), current.end());
  all.insert(all.end(), changed.begin(), changed.end());
  return all;
}

double PassSeconds::ofStep(size_t pass, double scale) const {
  return scale * current[pass] + std::max(0.0, changed[pass] - current[pass]);
}

bool serves(const Candidate& candidate, const TrialLayer& layer, at::ScalarType type) {
  return kernelFor(layer, candidate, emptyParameters(layer, *candidate.layout, type)) != nullptr;
}

std::vector<PassSeconds> convolutionSeconds(const TrialLayer& layer, const std::vector<Candidate>& candidates,
                                            const TrialSize& size, at::ScalarType type) {
  Sides sides{{layer.input, size, type}, {layer.output, size, type}};
  std::vector<Trial> trials;
  for (const Candidate& candidate : candidates) trials.emplace_back(layer, candidate, sides, type);
  std::vector<PassSeconds> least(trials.size());
  const Nanos begin = now();
  for (int repetition = 0; repetition < repetitions && seconds(now() - begin) < enoughSeconds; ++repetition) {
    for (size_t i = 0; i < trials.size(); ++i) trials[i].run(least[i]);
  }
  return least;
}

std::vector<double> normSeconds(const TrialLayer& layer, const std::vector<const LayoutEntry*>& layouts,
                                const TrialSize& size, at::ScalarType type) {
  const auto filled = [&](float value) { return at::full({layer.output.channels}, value); };
  const NormParameters parameters{filled(1), filled(0), filled(0), filled(1)};
  Sides sides{{layer.output, size, type}, {layer.output, size, type}};
  std::vector<double> least(layouts.size(), std::numeric_limits<double>::max());
  for (int64_t call = 0; call < repetitions * size.images / size.ofCall; ++call) {
    for (size_t i = 0; i < layouts.size(); ++i) {
      const bool blocked = blocksOutput(layer, *layouts[i]);
      const at::Tensor x = sides.x.ofCall(call, blocked), dy = sides.dy.ofCall(call, blocked);
      least[i] = std::min(least[i], secondsOfNorm(parameters, x, dy));
    }
  }
  return least;
}

}  // namespace tandem
