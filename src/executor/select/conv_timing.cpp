#include "executor/select/conv_timing.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "autotune/interleaved_timing.h"
#include "autotune/measuring.h"
#include "base/clock.h"
#include "base/text.h"
#include "kernels/conv/nchwc.h"
#include "kernels/norm/norm_act.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;

BlockedSides sidesOf(const TrialLayer& layer) {
  return blockedSides(layer.input.channels, layer.attributes.outputs, layer.attributes.groups);
}

std::array<bool, convolutionPasses> measuredPasses(const TrialLayer& layer, const ConvCandidate& candidate) {
  return {candidate.measures(0), candidate.measures(1) && layer.wantsInputGradient, candidate.measures(2)};
}

}  // namespace

bool blocksOutput(const TrialLayer& layer, const LayoutEntry& layout) {
  return layout.blocked && sidesOf(layer).output;
}

bool blocksInput(const TrialLayer& layer, const LayoutEntry& layout) { return layout.blocked && sidesOf(layer).input; }

ConvolutionParameters emptyParameters(const TrialLayer& layer, const LayoutEntry& layout, at::ScalarType type) {
  const Attributes& a = layer.attributes;
  const std::array<int64_t, 4> shape{a.outputs, layer.input.channels / a.groups, a.kernelH, a.kernelW};
  const bool inBlocks = blocksInput(layer, layout) && type == at::kFloat && a.groups == 1;
  const at::Tensor weight =
      inBlocks ? emptyBlockedWeight(shape) : at::empty(shape, at::TensorOptions(type).memory_format(channelsLast));
  const at::Tensor bias = a.bias ? at::empty({a.outputs}, type) : at::Tensor();
  return {weight, bias, at::empty_like(weight), a.bias ? at::empty_like(bias) : at::Tensor()};
}

std::unique_ptr<Convolution> kernelFor(const TrialLayer& layer, const ConvCandidate& candidate,
                                       const ConvolutionParameters& parameters) {
  const Attributes& a = layer.attributes;
  const Padding& p = a.padding;
  return candidate.algorithm->make(
      {a.strideH, a.strideW, p.top, p.bottom, p.left, p.right, a.groups, blocksOutput(layer, *candidate.layout)},
      parameters);
}

namespace {

constexpr double enoughSeconds = 0.6;  // per layer: long calls need no more repetition
constexpr int leastRounds = 3;         // the first one creates primitives and touches memory

/// Images, of which successive calls take successive parts. As in a training step, a call then does not find its images
/// in a cache that is too small for all.
class Images {
 public:
  Images(const ImageShape& shape, const TrialSize& size, at::ScalarType type)
      : size_(size),
        plain_(at::randn({size.images, shape.channels, shape.height, shape.width}).to(type).contiguous(channelsLast)) {}

  /// The images of a call.
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

/// The passes of a layer, called as the planned executor calls them.
class Trial {
 public:
  /// REQUIRES: the candidate supports the layer. `sides` must outlive this object.
  Trial(const TrialLayer& layer, const ConvCandidate& candidate, Sides& sides, at::ScalarType type)
      : sides_(sides),
        blocksInput_(blocksInput(layer, *candidate.layout)),
        blocksOutput_(blocksOutput(layer, *candidate.layout)),
        passes_(measuredPasses(layer, candidate)) {
    const ConvolutionParameters parameters = emptyParameters(layer, *candidate.layout, type);
    parameters.weight.zero_();
    if (parameters.bias.defined()) parameters.bias.zero_();
    kernel_ = kernelFor(layer, candidate, parameters);
  }

  PassSeconds sample() {
    kernel_->weightsChanged();
    using Call = std::function<void(const at::Tensor&, const at::Tensor&)>;
    const std::array<Call, convolutionPasses> calls{
        [this](const at::Tensor& x, const at::Tensor&) { kernel_->forward(x); },
        [this](const at::Tensor& x, const at::Tensor& dy) { kernel_->backwardInput(x, dy); },
        [this](const at::Tensor& x, const at::Tensor& dy) { kernel_->backwardParameters(x, dy); },
    };
    PassSeconds seconds;
    for (size_t pass = 0; pass < convolutionPasses; ++pass) {
      if (!passes_[pass]) continue;
      seconds.changed[pass] = secondsOf(calls[pass]);
      seconds.current[pass] = secondsOf(calls[pass]);
    }
    return seconds;
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
  bool blocksInput_, blocksOutput_;
  std::array<bool, convolutionPasses> passes_;  // which passes to measure
};

/// A batch-norm, called as the planned executor calls it.
class NormTrial {
 public:
  NormTrial(const ImageShape& shape, const TrialSize& size, at::ScalarType type)
      : parameters_{filled(shape, 1), filled(shape, 0), filled(shape, 0), filled(shape, 1)},
        sides_{{shape, size, type}, {shape, size, type}} {}

  double seconds(int64_t call, bool blocked) {
    const at::Tensor x = sides_.x.ofCall(call, blocked), dy = sides_.dy.ofCall(call, blocked);
    const NormActOptions options{.activation = Activation::relu};
    NormActSaved saved;
    const Nanos begin = now();
    normAct(x, {}, parameters_, options, saved);
    normActBackward({dy}, saved, false, options);
    return tandem::seconds(now() - begin);
  }

 private:
  static at::Tensor filled(const ImageShape& shape, float value) { return at::full({shape.channels}, value); }

  NormParameters parameters_;
  Sides sides_;
};

/// Concatenates the results of `numbersOf` on each replica's thread.
std::vector<double> onAll(DeviceThreads& threads, const std::function<std::vector<double>(size_t)>& numbersOf) {
  std::vector<std::vector<double>> ofReplica(threads.count());
  threads.run([&](size_t replica) {
    const at::NoGradGuard noGradients;
    ofReplica[replica] = numbersOf(replica);
  });
  std::vector<double> all;
  for (const std::vector<double>& numbers : ofReplica) all.insert(all.end(), numbers.begin(), numbers.end());
  return all;
}

/// Eliminates candidates that cannot win a pass, by their first sample. The first candidate of a layout stays, because
/// the others are compared with it.
void sendOutThoseTooSlow(std::vector<Candidate>& ways, const std::vector<ConvCandidate>& candidates) {
  const auto secondsOf = [&](size_t i, size_t pass) { return ways[i].samples.front()[pass]; };  // the first replica's
  const auto fastest = [&](const LayoutEntry* layout, size_t pass) {
    double least = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (candidates[i].layout == layout && candidates[i].measures(pass)) least = std::min(least, secondsOf(i, pass));
    }
    return least;
  };
  for (size_t i = 0; i < candidates.size(); ++i) {
    ways[i].eliminated = !candidates[i].all;
    for (size_t pass = 0; pass < convolutionPasses; ++pass) {
      const bool stays =
          candidates[i].measures(pass) && secondsOf(i, pass) <= eliminationFactor * fastest(candidates[i].layout, pass);
      if (stays) ways[i].eliminated = false;
    }
  }
}

/// The mean over replicas of each number that onAll() returned.
std::vector<double> meanOverReplicas(const std::vector<double>& all, size_t replicas) {
  std::vector<double> means(all.size() / replicas);
  for (size_t i = 0; i < all.size(); ++i) means[i % means.size()] += all[i] / static_cast<double>(replicas);
  return means;
}

std::vector<Timing> leastOf(const std::vector<Candidate>& ways, size_t replicas) {
  std::vector<Timing> all;
  for (const Candidate& way : ways) {
    all.push_back({.numbers = meanOverReplicas(way.least(), replicas), .spread = way.spread()});
  }
  return all;
}

}  // namespace

std::string TrialLayer::text() const {
  const Attributes& a = attributes;
  const Padding& p = a.padding;
  return concat(input.channels, 'x', input.height, 'x', input.width, "->", a.outputs, " kernel ", a.kernelH, 'x',
                a.kernelW, " stride ", a.strideH, 'x', a.strideW, " padding ", p.top, ',', p.bottom, ',', p.left, ',',
                p.right, " groups ", a.groups, a.bias ? " bias" : "", wantsInputGradient ? "" : " first");
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

bool arePlausible(const std::vector<double>& numbers, const TrialLayer& layer, const ConvCandidate& candidate) {
  const auto measured = measuredPasses(layer, candidate);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const bool isNone = numbers[i] == 0 && !measured[i % convolutionPasses];
    if (!isNone && !isTime(numbers[i])) return false;
  }
  return true;
}

bool serves(const ConvCandidate& candidate, const TrialLayer& layer, at::ScalarType type) {
  return kernelFor(layer, candidate, emptyParameters(layer, *candidate.layout, type)) != nullptr;
}

std::vector<Timing> convolutionTimings(const TrialLayer& layer, const std::vector<ConvCandidate>& candidates,
                                       const TrialSize& size, at::ScalarType type, DeviceThreads& threads) {
  std::vector<std::unique_ptr<Sides>> sides(threads.count());
  std::vector<std::vector<Trial>> trials(threads.count());  // per replica, then per candidate
  threads.run([&](size_t replica) {
    const at::NoGradGuard noGradients;
    sides[replica] = std::make_unique<Sides>(Sides{{layer.input, size, type}, {layer.output, size, type}});
    for (const ConvCandidate& each : candidates) trials[replica].emplace_back(layer, each, *sides[replica], type);
  });
  std::vector<Candidate> ways;
  for (size_t i = 0; i < candidates.size(); ++i) {
    ways.push_back(
        {.sample = [&, i] { return onAll(threads, [&](size_t r) { return trials[r][i].sample().numbers(); }); }});
  }
  timeInterleaved(ways, {.most = 1});
  sendOutThoseTooSlow(ways, candidates);
  timeInterleaved(ways, {.least = leastRounds - 1, .most = TimingRounds().most - 1, .enoughSeconds = enoughSeconds});
  return leastOf(ways, threads.count());
}

std::vector<Timing> normTimings(const TrialLayer& layer, const std::vector<const LayoutEntry*>& layouts,
                                const TrialSize& size, at::ScalarType type, DeviceThreads& threads) {
  std::vector<std::unique_ptr<NormTrial>> trials(threads.count());
  threads.run([&](size_t replica) {
    const at::NoGradGuard noGradients;
    trials[replica] = std::make_unique<NormTrial>(layer.output, size, type);
  });
  std::vector<Candidate> ways;
  for (const LayoutEntry* layout : layouts) {
    ways.push_back({.sample = [&, blocked = blocksOutput(layer, *layout), call = int64_t{0}]() mutable {
      ++call;
      return onAll(threads, [&](size_t r) { return std::vector{trials[r]->seconds(call, blocked)}; });
    }});
  }
  const int64_t parts = size.images / size.ofCall;
  timeInterleaved(ways, {.most = TimingRounds().most * static_cast<int>(parts)});
  return leastOf(ways, threads.count());
}

}  // namespace tandem
