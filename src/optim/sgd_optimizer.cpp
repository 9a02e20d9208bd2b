#include <ATen/ATen.h>

#include "base/text.h"
#include "kernels/optimizer/sgd.h"
#include "optim/parts.h"
#include "optim/rules.h"

namespace tandem {
namespace {

SgdHyperparameters hyperparametersOf(const OptimizerOptions& options, const PartStep& step, double gradientScale) {
  return {.rate = static_cast<float>(step.rate),
          .momentum = static_cast<float>(step.momentum),
          .weightDecay = static_cast<float>(step.weightDecay),
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
      : Optimizer(buffers, options), step_(buffers.device(), partRules().size()) {}

 private:
  void begin(int64_t step, double gradientScale) override {
    step_.set(scaledLoss(), clipFactor(),
              [&](size_t rule) { return hyperparametersOf(options(), partStep(rule, step), gradientScale); });
  }
  void apply(const Part& part) override {
    at::Tensor master = buffers().master(part.slice);
    at::Tensor weights = buffers().weights(part.slice);
    at::Tensor velocity = velocityOf(buffers(), part.slice, options());
    sgdUpdate(master, weights, buffers().gradient(part.slice), velocity, step_.of(part.rule));
  }

  HyperparametersOfParts<SgdHyperparameters> step_;
};

class SgdReference final : public ReferenceOptimizer {
 public:
  using ReferenceOptimizer::ReferenceOptimizer;

 private:
  void apply(const Part& part) override {
    at::Tensor master = buffers().master(part.slice), weights = buffers().weights(part.slice);
    at::Tensor velocity = velocityOf(buffers(), part.slice, options());
    sgdUpdateReference(master, weights, buffers().gradient(part.slice), velocity,
                       hyperparametersOf(options(), stepOf(part), scale()));
  }
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
