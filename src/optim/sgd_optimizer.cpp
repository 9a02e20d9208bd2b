#include <ATen/ATen.h>

#include "base/text.h"
#include "kernels/optimizer/sgd.h"
#include "optim/rules.h"

namespace tandem {
namespace {

SgdHyperparameters hyperparametersOf(const OptimizerOptions& options, int64_t step, double gradientScale) {
  return {.rate = static_cast<float>(options.rateAt(step)),
          .momentum = static_cast<float>(options.momentum),
          .weightDecay = static_cast<float>(options.weightDecay),
          .scale = static_cast<float>(gradientScale),
          .nesterov = options.nesterov};
}

/// Undefined without momentum.
at::Tensor velocityOf(FlatBuffers& buffers, Slice slice, const OptimizerOptions& options) {
  return options.momentum != 0 ? buffers.state(0, slice) : at::Tensor();
}

class SgdOptimizer final : public Optimizer {
 public:
  SgdOptimizer(FlatBuffers& buffers, const OptimizerOptions& options)
      : buffers_(buffers), options_(options), step_(buffers.device()) {}

  void allocateState() override { buffers_.allocateState(ruleOf(options_).stateValues(options_)); }

  void beginStep(int64_t step, double gradientScale) override {
    SgdHyperparameters next = hyperparametersOf(options_, step, gradientScale);
    next.scaled = scaledLoss();
    step_.set(next);
  }

 private:
  void apply(Slice slice) override {
    at::Tensor master = buffers_.master(slice);
    at::Tensor weights = buffers_.weights(slice);
    at::Tensor velocity = velocityOf(buffers_, slice, options_);
    sgdUpdate(master, weights, buffers_.gradient(slice), velocity, step_);
  }

  FlatBuffers& buffers_;
  OptimizerOptions options_;
  DeviceHyperparameters<SgdHyperparameters> step_;
};

class SgdReference final : public Optimizer {
 public:
  SgdReference(FlatBuffers& buffers, const OptimizerOptions& options) : buffers_(buffers), options_(options) {}
  void allocateState() override { buffers_.allocateState(ruleOf(options_).stateValues(options_)); }
  void beginStep(int64_t step, double gradientScale) override {
    step_ = hyperparametersOf(options_, step, gradientScale);
  }

 private:
  void apply(Slice slice) override {
    at::Tensor master = buffers_.master(slice), weights = buffers_.weights(slice);
    at::Tensor velocity = velocityOf(buffers_, slice, options_);
    sgdUpdateReference(master, weights, buffers_.gradient(slice), velocity, step_);
  }

  FlatBuffers& buffers_;
  OptimizerOptions options_;
  SgdHyperparameters step_;
};

}  // namespace

std::unique_ptr<Optimizer> makeSgd(FlatBuffers& buffers, const OptimizerOptions& options) {
  return std::make_unique<SgdOptimizer>(buffers, options);
}

std::unique_ptr<Optimizer> makeSgdReference(FlatBuffers& buffers, const OptimizerOptions& options) {
  return std::make_unique<SgdReference>(buffers, options);
}

std::string sgdCoefficients(const OptimizerOptions& options) {
  return concat("momentum ", options.momentum, options.nesterov ? " (Nesterov)" : "");
}

}  // namespace tandem
