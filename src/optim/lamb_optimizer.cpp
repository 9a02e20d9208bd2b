#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

#include "kernels/optimizer/adam.h"
#include "kernels/optimizer/sgd.h"
#include "optim/norms.h"
#include "optim/parts.h"
#include "optim/rules.h"

namespace tandem {
namespace {

/// An update of SGD, with rate 1, of Adam's direction times rate and trust ratio.
class LambOptimizer final : public Optimizer {
 public:
  LambOptimizer(FlatBuffers& buffers, const OptimizerOptions& options)
      : Optimizer(buffers, options),
        moments_(buffers.device(), partRules().size()),
        move_(buffers.device(), partRules().size()) {}

 private:
  void begin(int64_t step, double gradientScale) override {
    const OptimizerOptions& o = options();
    moments_.set(scaledLoss(), clipFactor(), [&](size_t rule) {
      return AdamHyperparameters{.rate = 1,
                                 .beta1 = o.beta1,
                                 .beta2 = o.beta2,
                                 .epsilon = o.epsilon,
                                 .weightDecay = partStep(rule, step).weightDecay,
                                 .scale = gradientScale,
                                 .number = step + 1};
    });
    const ScaledLoss unscaled{.overflow = scaledLoss().overflow};  // as the direction is
    move_.set(unscaled, nullptr, [&](size_t rule) {
      return SgdHyperparameters{.rate = 1, .scale = static_cast<float>(partStep(rule, step).rate)};
    });
  }
  void apply(const Part& part) override {
    const at::NoGradGuard noGradients;
    at::Tensor master = buffers().master(part.slice), weights = buffers().weights(part.slice), none, trust;
    const AdamMoments moments{buffers().state(0, part.slice), buffers().state(1, part.slice)};
    const at::Tensor direction = lambDirection(master, buffers().gradient(part.slice), moments, moments_.of(part.rule));
    if (decays(part)) {
      const at::Tensor ofWeights = sumOfSquares(master).sqrt(), ofDirection = sumOfSquares(direction).sqrt();
      trust = ratioOrOne(ofWeights / ofDirection, ofWeights, ofDirection).to(at::kFloat);
    }
    sgdUpdate(master, weights, direction, none, move_.of(part.rule), trust);
  }

  HyperparametersOfParts<AdamHyperparameters> moments_;
  HyperparametersOfParts<SgdHyperparameters> move_;
};

class LambReference final : public ReferenceOptimizer {
 public:
  using ReferenceOptimizer::ReferenceOptimizer;

 private:
  void apply(const Part& part) override {
    const OptimizerOptions& o = options();
    const PartStep values = stepOf(part);
    const auto t = static_cast<double>(number() + 1);
    at::Tensor master = buffers().master(part.slice), weights = buffers().weights(part.slice);
    const at::Tensor g = buffers().gradient(part.slice).to(master.scalar_type()) * scale();
    at::Tensor mean = buffers().state(0, part.slice), square = buffers().state(1, part.slice);
    mean.mul_(o.beta1).add_(g, 1 - o.beta1);
    square.mul_(o.beta2).addcmul_(g, g, 1 - o.beta2);
    const at::Tensor spread = square.sqrt().div_(std::sqrt(1 - std::pow(o.beta2, t))).add_(o.epsilon);
    at::Tensor change = mean / (1 - std::pow(o.beta1, t)) / spread;
    if (decays(part)) {
      change = change + master * values.weightDecay;
      change = change * ratioOrOne(master.norm() / change.norm(), master.norm(), change.norm());
    }
    master.sub_(change, values.rate);
    if (weights.data_ptr() != master.data_ptr()) weights.copy_(master);
  }
};

}  // namespace

std::unique_ptr<Optimizer> makeLamb(FlatBuffers& buffers, const OptimizerOptions& options) {
  return std::make_unique<LambOptimizer>(buffers, options);
}

std::unique_ptr<Optimizer> makeLambReference(FlatBuffers& buffers, const OptimizerOptions& options) {
  return std::make_unique<LambReference>(buffers, options);
}

}  // namespace tandem
