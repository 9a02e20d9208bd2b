#include <ATen/ATen.h>

#include "base/text.h"
#include "kernels/optimizer/sgd.h"
#include "optim/rules.h"

namespace tandem {
namespace {

class SgdOptimizer final : public Optimizer {
 public:
  SgdOptimizer(FlatBuffers& buffers, const OptimizerOptions& options)
      : buffers_(buffers), options_(options), step_(buffers.device()) {}

  void allocateState() override { buffers_.allocateState(ruleOf(options_).stateValues(options_)); }

  void beginStep(int64_t step, double gradientScale) override {
    step_.set({.rate = static_cast<float>(options_.rateAt(step)),
               .momentum = static_cast<float>(options_.momentum),
               .weightDecay = static_cast<float>(options_.weightDecay),
               .scale = static_cast<float>(gradientScale),
               .nesterov = options_.nesterov,
               .scaled = scaledLoss()});
  }

 private:
  void apply(Slice slice) override {
    at::Tensor master = buffers_.master(slice);
    at::Tensor weights = buffers_.weights(slice);
    at::Tensor velocity = options_.momentum != 0 ? buffers_.state(0, slice) : at::Tensor();
    sgdUpdate(master, weights, buffers_.gradient(slice), velocity, step_);
  }

  FlatBuffers& buffers_;
  OptimizerOptions options_;
  DeviceHyperparameters<SgdHyperparameters> step_;
};

}  // namespace

std::unique_ptr<Optimizer> makeSgd(FlatBuffers& buffers, const OptimizerOptions& options) {
  return std::make_unique<SgdOptimizer>(buffers, options);
}

std::string sgdCoefficients(const OptimizerOptions& options) {
  return concat("momentum ", options.momentum, options.nesterov ? " (Nesterov)" : "");
}

}  // namespace tandem
