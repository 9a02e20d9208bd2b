#include "optim/optimizer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "base/error.h"
#include "optim/norms.h"
#include "optim/rules.h"

namespace tandem {
namespace {

constexpr double adamRate = 1e-3;     // of Kingma & Ba 2015, and PyTorch's default
constexpr double rmspropRate = 1e-2;  // PyTorch's default
constexpr double clipEpsilon = 1e-6;  // of torch.nn.utils.clip_grad_norm_

int velocity(const OptimizerOptions& options) { return options.momentum != 0 ? 1 : 0; }
int squareAndVelocity(const OptimizerOptions& options) { return 1 + velocity(options); }
int twoMoments(const OptimizerOptions&) { return 2; }

constexpr OptimizerEntry table[] = {
    {.name = "sgd",
     .summary = "stochastic gradient descent, with --momentum and --nesterov",
     .usesMomentum = true,
     .usesNesterov = true,
     .stateValues = velocity,
     .coefficients = sgdCoefficients,
     .make = makeSgd,
     .makeReference = makeSgdReference},
    {.name = "adam",
     .summary = "Adam; weight decay is added to the gradient",
     .learningRate = adamRate,
     .usesBetas = true,
     .usesEpsilon = true,
     .stateValues = twoMoments,
     .coefficients = adamCoefficients,
     .make = makeAdam,
     .makeReference = makeAdamReference},
    {.name = "adamw",
     .summary = "Adam with weight decay apart from the gradient",
     .learningRate = adamRate,
     .usesBetas = true,
     .usesEpsilon = true,
     .stateValues = twoMoments,
     .coefficients = adamCoefficients,
     .make = makeAdamW,
     .makeReference = makeAdamWReference},
    {.name = "rmsprop",
     .summary = "RMSprop in PyTorch's form, with --momentum and --rmsprop-decay",
     .learningRate = rmspropRate,
     .usesMomentum = true,
     .usesEpsilon = true,
     .usesSquareDecay = true,
     .stateValues = squareAndVelocity,
     .coefficients = rmspropCoefficients,
     .make = makeRmsprop,
     .makeReference = makeRmspropReference},
    {.name = "lars",
     .summary = "SGD with --momentum, whose rate follows the norms of each parameter and of its gradient (--trust)",
     .usesMomentum = true,
     .usesTrust = true,
     .needsWholeParameters = true,
     .stateValues = velocity,
     .coefficients = larsCoefficients,
     .make = makeLars,
     .makeReference = makeLarsReference},
    {.name = "lamb",
     .summary = "AdamW whose rate follows the norms of each parameter and of its update",
     .learningRate = adamRate,
     .usesBetas = true,
     .usesEpsilon = true,
     .needsWholeParameters = true,
     .stateValues = twoMoments,
     .coefficients = adamCoefficients,
     .make = makeLamb,
     .makeReference = makeLambReference},
};

bool isTrained(const ParameterSpec& spec, const OptimizerOptions& options) {
  const bool isFixed = spec.whitens && spec.isWeight;
  return !isFixed && (spec.isHead || !options.trainsHeadAlone);
}

PartRule ruleFor(const ParameterSpec& spec, const OptimizerOptions& options) {
  return {.decays = spec.isWeight || !options.decaysWeightsAlone,
          .rate = spec.isShift ? options.shiftRate : 1,
          .updates = spec.whitens ? options.whiteningSteps * options.updatesPerStep : 0};
}

/// Where the rule stands, or is put.
size_t indexOf(const PartRule& rule, std::vector<PartRule>& rules) {
  const auto found = std::ranges::find(rules, rule);
  if (found != rules.end()) return static_cast<size_t>(found - rules.begin());
  rules.push_back(rule);
  return rules.size() - 1;
}

}  // namespace

std::span<const OptimizerEntry> optimizers() { return table; }

const OptimizerEntry& ruleOf(const OptimizerOptions& options) {
  return options.rule == nullptr ? table[0] : *options.rule;
}

int stateValues(const OptimizerOptions& options) {
  return ruleOf(options).stateValues(options) + (options.average.isKept() ? 1 : 0);
}

int averageState(const OptimizerOptions& options) { return ruleOf(options).stateValues(options); }

std::unique_ptr<Optimizer> makeOptimizer(FlatBuffers& buffers, const OptimizerOptions& options) {
  return ruleOf(options).make(buffers, options);
}

double OptimizerOptions::rateAt(int64_t update) const {
  const int64_t made = update / updatesPerStep, step = scheduleBegin == nullptr ? made : scheduleBegin->stepOf(made);
  const ScheduleEntry& entry = schedule == nullptr ? schedules().front() : *schedule;
  return learningRate * factorAt(entry, course, step) * (rateFactor == nullptr ? 1 : rateFactor->get());
}

// Parts of one rule reach over the padding between their parameters, which is zero in all buffers.
Optimizer::Optimizer(FlatBuffers& buffers, const OptimizerOptions& options)
    : buffers_(buffers),
      options_(options),
      parts_(static_cast<size_t>(buffers.segments())),
      averageStep_(options.average, options.course.totalSteps * options.updatesPerStep, buffers.device()) {
  const bool whole = ruleOf(options).needsWholeParameters;
  for (int segment = 0; segment < buffers.segments(); ++segment) {
    std::vector<Part>& parts = parts_[static_cast<size_t>(segment)];
    bool follows = false;  // the parameter before is trained
    for (const int parameter : buffers.parametersIn(buffers.whole(segment))) {
      const ParameterSpec& spec = buffers.spec(parameter);
      const bool trained = isTrained(spec, options);
      const Slice slice = buffers.slice(parameter);
      const size_t rule = trained ? indexOf(ruleFor(spec, options), rules_) : 0;
      if (trained && follows && !whole && parts.back().rule == rule) {
        parts.back().slice.end = slice.end;
      } else if (trained) {
        parts.push_back({slice, rule});
      }
      follows = trained;
    }
  }
  if (rules_.empty()) rules_.emplace_back();
  if (options.clipNorm <= 0) return;
  squares_ = at::zeros({}, at::device(buffers.device()).dtype(at::kDouble));
  clip_ = at::ones({}, at::device(buffers.device()).dtype(at::kFloat));
}

PartStep Optimizer::partStep(size_t rule, int64_t update) const {
  const PartRule& own = rules_[rule];
  if (own.updates > 0 && update >= own.updates) return {};
  return {.rate = options_.rateAt(update) * own.rate, .momentum = options_.momentum, .weightDecay = weightDecay(rule)};
}

int Optimizer::states() const { return stateValues(options_); }

void Optimizer::allocateState() { buffers_.allocateState(states()); }

void Optimizer::beginStep(int64_t step, double gradientScale) {
  gradientScale_ = gradientScale;
  isFirstStep_ = step == 0;
  if (squares_.defined()) squares_.zero_();
  averageStep_.begin(step);
  begin(step, gradientScale);
}

template <class Body>
void Optimizer::eachPart(Slice slice, const Body& body) const {
  const std::vector<Part>& parts = parts_[static_cast<size_t>(slice.segment)];
  auto next = std::ranges::lower_bound(parts, slice.begin + 1, {}, [](const Part& part) { return part.slice.end; });
  for (; next != parts.end() && next->slice.begin < slice.end; ++next) {
    const int64_t begin = std::max(next->slice.begin, slice.begin), end = std::min(next->slice.end, slice.end);
    body(Part{{slice.segment, begin, end}, next->rule}, *next);
  }
}

// The average begins with the weights before the first update, of parameters that are not trained too.
void Optimizer::update(Slice slice) {
  const Span updating(SpanKind::update);
  if (options_.average.isKept() && isFirstStep_) {
    buffers_.state(averageState(options_), slice).copy_(buffers_.master(slice));
  }
  eachPart(slice, [this](const Part& part, const Part& whole) {
    check(!ruleOf(options_).needsWholeParameters || part.slice == whole.slice, "a parameter is updated as a whole");
    apply(part);
  });
  if (!options_.average.isKept()) return;
  at::Tensor average = buffers_.state(averageState(options_), slice), master = buffers_.master(slice);
  averageStep_.add(average, master);
  if (options_.average.leads) buffers_.refreshWeights(slice);
}

void Optimizer::measure(Slice slice) {
  const at::NoGradGuard noGradients;
  eachPart(slice,
           [this](const Part& part, const Part&) { squares_.add_(sumOfSquares(buffers_.gradient(part.slice))); });
}

at::Tensor Optimizer::scaledNorm(const at::Tensor& norm) const {
  at::Tensor scaled = norm * gradientScale_;
  if (lossScale_ != nullptr) scaled = scaled / lossScale_->factor().squeeze();
  return scaled;
}

at::Tensor Optimizer::gradientNorm(const at::Tensor& gradient) const {
  const at::Tensor norm = scaledNorm(sumOfSquares(gradient).sqrt());
  return clip_.defined() ? norm * clip_ : norm;
}

void Optimizer::clip(const at::Tensor& squares) {
  const at::NoGradGuard noGradients;
  const at::Tensor norm = scaledNorm(squares.sqrt());
  clip_.copy_((norm + clipEpsilon).reciprocal().mul(options_.clipNorm).clamp_max(1));
}

double Optimizer::clipFactorOnHost() const { return clip_.defined() ? clip_.item<float>() : 1; }

void swapAverage(FlatBuffers& buffers, const OptimizerOptions& options) {
  const at::NoGradGuard noGradients;
  for (int segment = 0; segment < buffers.segments(); ++segment) {
    const Slice whole = buffers.whole(segment);
    at::Tensor master = buffers.master(whole), average = buffers.state(averageState(options), whole);
    const at::Tensor kept = master.clone();
    master.copy_(average);
    average.copy_(kept);
  }
  buffers.refreshWeights();
}

}  // namespace tandem
