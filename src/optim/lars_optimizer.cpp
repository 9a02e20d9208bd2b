#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "base/text.h"
#include "kernels/optimizer/sgd.h"
#include "optim/norms.h"
#include "optim/parts.h"
#include "optim/rules.h"

namespace tandem {
namespace {

constexpr double epsilon = 1e-8;  // of timm's Lars

/// Of a parameter, by the norms of its weights and of its gradient.
at::Tensor trustRatio(const at::Tensor& weights, const at::Tensor& gradient, double trust, double weightDecay) {
  const at::Tensor ratio = trust * weights / (gradient + weightDecay * weights + epsilon);
  return ratioOrOne(ratio, weights, gradient);
}

/// Undefined without momentum.
at::Tensor velocityOf(FlatBuffers& buffers, Slice slice, const OptimizerOptions& options) {
  return options.momentum != 0 ? buffers.state(0, slice) : at::Tensor();
}

/// The update is that of SGD with rate 1 and a gradient times rate and trust ratio, so the velocity holds both.
class LarsOptimizer final : public Optimizer {
 public:
  LarsOptimizer(FlatBuffers& buffers, const OptimizerOptions& options)
      : Optimizer(buffers, options), step_(buffers.device(), partRules().size()) {}

 private:
  void begin(int64_t step, double gradientScale) override {
    step_.set(scaledLoss(), clipFactor(), [&](size_t rule) {
      const PartStep part = partStep(rule, step);
      return SgdHyperparameters{.rate = 1,
                                .momentum = static_cast<float>(part.momentum),
                                .weightDecay = static_cast<float>(part.rate * part.weightDecay),
                                .scale = static_cast<float>(part.rate * gradientScale)};
    });
  }
  void apply(const Part& part) override {
    const at::NoGradGuard noGradients;
    at::Tensor master = buffers().master(part.slice), weights = buffers().weights(part.slice);
    at::Tensor velocity = velocityOf(buffers(), part.slice, options());
    const at::Tensor gradient = buffers().gradient(part.slice);
    at::Tensor trust;
    if (decays(part)) {
      const double decay = weightDecay(part.rule);
      trust = trustRatio(sumOfSquares(master).sqrt(), gradientNorm(gradient), options().trust, decay).to(at::kFloat);
    }
    sgdUpdate(master, weights, gradient, velocity, step_.of(part.rule), trust);
  }

  HyperparametersOfParts<SgdHyperparameters> step_;
};

class LarsReference final : public ReferenceOptimizer {
 public:
  using ReferenceOptimizer::ReferenceOptimizer;

 private:
  void apply(const Part& part) override {
    at::Tensor master = buffers().master(part.slice), weights = buffers().weights(part.slice);
    const PartStep step = stepOf(part);
    at::Tensor g = buffers().gradient(part.slice).to(master.scalar_type()) * scale();
    if (decays(part)) {
      const at::Tensor trust = trustRatio(master.norm(), g.norm(), options().trust, step.weightDecay);
      g = (g + step.weightDecay * master) * trust;
    }
    at::Tensor velocity = velocityOf(buffers(), part.slice, options());
    const at::Tensor change = velocity.defined() ? velocity.mul_(step.momentum).add_(g, step.rate) : g * step.rate;
    master.sub_(change);
    if (weights.data_ptr() != master.data_ptr()) weights.copy_(master);
  }
};

}  // namespace

std::unique_ptr<Optimizer> makeLars(FlatBuffers& buffers, const OptimizerOptions& options) {
  return std::make_unique<LarsOptimizer>(buffers, options);
}

std::unique_ptr<Optimizer> makeLarsReference(FlatBuffers& buffers, const OptimizerOptions& options) {
  return std::make_unique<LarsReference>(buffers, options);
}

std::string larsCoefficients(const OptimizerOptions& options) {
  return concat("momentum ", options.momentum, ", trust coefficient ", options.trust);
}

}  // namespace tandem
