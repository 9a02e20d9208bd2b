#include <ATen/ATen.h>

#include "base/text.h"
#include "kernels/optimizer/rmsprop.h"
#include "optim/parts.h"
#include "optim/rules.h"

namespace tandem {
namespace {

RmspropHyperparameters hyperparametersOf(const OptimizerOptions& options, const PartStep& step, double gradientScale) {
  return {.rate = step.rate,
          .decay = options.squareDecay,
          .epsilon = options.epsilon,
          .momentum = step.momentum,
          .weightDecay = step.weightDecay,
          .scale = gradientScale};
}

RmspropState stateOf(FlatBuffers& buffers, Slice slice, const OptimizerOptions& options) {
  return {buffers.state(0, slice), options.momentum != 0 ? buffers.state(1, slice) : at::Tensor()};
}

class RmspropOptimizer final : public Optimizer {
 public:
  RmspropOptimizer(FlatBuffers& buffers, const OptimizerOptions& options)
      : Optimizer(buffers, options), step_(buffers.device(), partRules().size()) {}

 private:
  void begin(int64_t step, double gradientScale) override {
    step_.set(scaledLoss(), clipFactor(),
              [&](size_t rule) { return hyperparametersOf(options(), partStep(rule, step), gradientScale); });
  }
  void apply(const Part& part) override {
    at::Tensor master = buffers().master(part.slice);
    at::Tensor weights = buffers().weights(part.slice);
    rmspropUpdate(master, weights, buffers().gradient(part.slice), stateOf(buffers(), part.slice, options()),
                  step_.of(part.rule));
  }

  HyperparametersOfParts<RmspropHyperparameters> step_;
};

class RmspropReference final : public ReferenceOptimizer {
 public:
  using ReferenceOptimizer::ReferenceOptimizer;

 private:
  void apply(const Part& part) override {
    at::Tensor master = buffers().master(part.slice), weights = buffers().weights(part.slice);
    rmspropUpdateReference(master, weights, buffers().gradient(part.slice), stateOf(buffers(), part.slice, options()),
                           hyperparametersOf(options(), stepOf(part), scale()));
  }
};

}  // namespace

std::unique_ptr<Optimizer> makeRmsprop(FlatBuffers& buffers, const OptimizerOptions& options) {
  return std::make_unique<RmspropOptimizer>(buffers, options);
}

std::unique_ptr<Optimizer> makeRmspropReference(FlatBuffers& buffers, const OptimizerOptions& options) {
  return std::make_unique<RmspropReference>(buffers, options);
}

std::string rmspropCoefficients(const OptimizerOptions& options) {
  return concat("decay ", options.squareDecay, ", momentum ", options.momentum, ", epsilon ", options.epsilon);
}

}  // namespace tandem
