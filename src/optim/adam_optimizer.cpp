#include <ATen/ATen.h>

#include "base/text.h"
#include "kernels/optimizer/adam.h"
#include "optim/parts.h"
#include "optim/rules.h"

namespace tandem {
namespace {

AdamHyperparameters hyperparametersOf(const OptimizerOptions& options, const PartStep& part, int64_t step,
                                      double gradientScale, bool decoupled) {
  return {.rate = part.rate,
          .beta1 = options.beta1,
          .beta2 = options.beta2,
          .epsilon = options.epsilon,
          .weightDecay = part.weightDecay,
          .scale = gradientScale,
          .number = step + 1,  // Adam counts steps from 1: the bias correction divides by 1 - beta^number
          .decoupled = decoupled};
}

class AdamOptimizer final : public Optimizer {
 public:
  AdamOptimizer(FlatBuffers& buffers, const OptimizerOptions& options, bool decoupled)
      : Optimizer(buffers, options), decoupled_(decoupled), step_(buffers.device(), partRules().size()) {}

 private:
  void begin(int64_t step, double gradientScale) override {
    step_.set(scaledLoss(), clipFactor(), [&](size_t rule) {
      return hyperparametersOf(options(), partStep(rule, step), step, gradientScale, decoupled_);
    });
  }
  void apply(const Part& part) override {
    at::Tensor master = buffers().master(part.slice);
    at::Tensor weights = buffers().weights(part.slice);
    const AdamMoments moments{buffers().state(0, part.slice), buffers().state(1, part.slice)};
    adamUpdate(master, weights, buffers().gradient(part.slice), moments, step_.of(part.rule));
  }

  bool decoupled_;
  HyperparametersOfParts<AdamHyperparameters> step_;
};

class AdamReference final : public ReferenceOptimizer {
 public:
  AdamReference(FlatBuffers& buffers, const OptimizerOptions& options, bool decoupled)
      : ReferenceOptimizer(buffers, options), decoupled_(decoupled) {}

 private:
  void apply(const Part& part) override {
    at::Tensor master = buffers().master(part.slice), weights = buffers().weights(part.slice);
    adamUpdateReference(master, weights, buffers().gradient(part.slice),
                        {buffers().state(0, part.slice), buffers().state(1, part.slice)},
                        hyperparametersOf(options(), stepOf(part), number(), scale(), decoupled_));
  }

  bool decoupled_;
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
