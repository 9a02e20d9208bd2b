#include <ATen/ATen.h>

#include "base/text.h"
#include "kernels/optimizer/adam.h"
#include "optim/rules.h"

namespace tandem {
namespace {

AdamHyperparameters hyperparametersOf(const OptimizerOptions& options, int64_t step, double gradientScale,
                                      bool decoupled) {
  return {.rate = options.rateAt(step),
          .beta1 = options.beta1,
          .beta2 = options.beta2,
          .epsilon = options.epsilon,
          .weightDecay = options.weightDecay,
          .scale = gradientScale,
          .number = step + 1,  // Adam counts steps from 1: the bias correction divides by 1 - beta^number
          .decoupled = decoupled};
}

class AdamOptimizer final : public Optimizer {
 public:
  AdamOptimizer(FlatBuffers& buffers, const OptimizerOptions& options, bool decoupled)
      : buffers_(buffers), options_(options), decoupled_(decoupled), step_(buffers.device()) {}

  void allocateState() override { buffers_.allocateState(ruleOf(options_).stateValues(options_)); }

  void beginStep(int64_t step, double gradientScale) override {
    AdamHyperparameters next = hyperparametersOf(options_, step, gradientScale, decoupled_);
    next.scaled = scaledLoss();
    step_.set(next);
  }

 private:
  void apply(Slice slice) override {
    at::Tensor master = buffers_.master(slice);
    at::Tensor weights = buffers_.weights(slice);
    const AdamMoments moments{buffers_.state(0, slice), buffers_.state(1, slice)};
    adamUpdate(master, weights, buffers_.gradient(slice), moments, step_);
  }

  FlatBuffers& buffers_;
  OptimizerOptions options_;
  bool decoupled_;
  DeviceHyperparameters<AdamHyperparameters> step_;
};

class AdamReference final : public Optimizer {
 public:
  AdamReference(FlatBuffers& buffers, const OptimizerOptions& options, bool decoupled)
      : buffers_(buffers), options_(options), decoupled_(decoupled) {}
  void allocateState() override { buffers_.allocateState(ruleOf(options_).stateValues(options_)); }
  void beginStep(int64_t step, double gradientScale) override {
    step_ = hyperparametersOf(options_, step, gradientScale, decoupled_);
  }

 private:
  void apply(Slice slice) override {
    at::Tensor master = buffers_.master(slice), weights = buffers_.weights(slice);
    adamUpdateReference(master, weights, buffers_.gradient(slice), {buffers_.state(0, slice), buffers_.state(1, slice)},
                        step_);
  }

  FlatBuffers& buffers_;
  OptimizerOptions options_;
  bool decoupled_;
  AdamHyperparameters step_;
};

}  // namespace

std::unique_ptr<Optimizer> makeAdam(FlatBuffers& buffers, const OptimizerOptions& options) {
  return std::make_unique<AdamOptimizer>(buffers, options, /*decoupled=*/false);
}

std::unique_ptr<Optimizer> makeAdamW(FlatBuffers& buffers, const OptimizerOptions& options) {
  return std::make_unique<AdamOptimizer>(buffers, options, /*decoupled=*/true);
}

std::unique_ptr<Optimizer> makeAdamReference(FlatBuffers& buffers, const OptimizerOptions& options) {
  return std::make_unique<AdamReference>(buffers, options, /*decoupled=*/false);
}

std::unique_ptr<Optimizer> makeAdamWReference(FlatBuffers& buffers, const OptimizerOptions& options) {
  return std::make_unique<AdamReference>(buffers, options, /*decoupled=*/true);
}

std::string adamCoefficients(const OptimizerOptions& options) {
  return concat("beta1 ", options.beta1, ", beta2 ", options.beta2, ", epsilon ", options.epsilon);
}

}  // namespace tandem
