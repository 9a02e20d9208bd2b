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
at::Tensor trustRatio(const at::Tensor& weights, const at::Tensor& gradient, const OptimizerOptions& options) {
  const at::Tensor ratio = options.trust * weights / (gradient + options.weightDecay * weights + epsilon);
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
      : Optimizer(buffers, options), step_(buffers.device(), options.decaysWeightsAlone) {}

 private:
  void begin(int64_t step, double gradientScale) override {
    const double rate = options().rateAt(step);
    step_.set(scaledLoss(), clipFactor(), [&](bool decays) {
      return SgdHyperparameters{.rate = 1,
                                .momentum = static_cast<float>(options().momentum),
                                .weightDecay = static_cast<float>(decays ? rate * options().weightDecay : 0),
                                .scale = static_cast<float>(rate * gradientScale)};
    });
  }
  void apply(const Part& part) override {
    const at::NoGradGuard noGradients;
    at::Tensor master = buffers().master(part.slice), weights = buffers().weights(part.slice);
    at::Tensor velocity = velocityOf(buffers(), part.slice, options());
    const at::Tensor gradient = buffers().gradient(part.slice);
    at::Tensor trust;
    if (part.decays) {
      trust = trustRatio(sumOfSquares(master).sqrt(), gradientNorm(gradient), options()).to(at::kFloat);
    }
    sgdUpdate(master, weights, gradient, velocity, step_.of(part.decays), trust);
  }

  HyperparametersOfParts<SgdHyperparameters> step_;
};

class LarsReference final : public Optimizer {
 public:
  using Optimizer::Optimizer;

 private:
  void begin(int64_t step, double gradientScale) override { rate_ = options().rateAt(step), scale_ = gradientScale; }
  void apply(const Part& part) override {
    at::Tensor master = buffers().master(part.slice), weights = buffers().weights(part.slice);
    at::Tensor g = buffers().gradient(part.slice).to(master.scalar_type()) * (scale_ * clipFactorOnHost());
    if (part.decays) {
      const at::Tensor trust = trustRatio(master.norm(), g.norm(), options());
      g = (g + options().weightDecay * master) * trust;
    }
    at::Tensor velocity = velocityOf(buffers(), part.slice, options());
    const at::Tensor change = velocity.defined() ? velocity.mul_(options().momentum).add_(g, rate_) : g * rate_;
    master.sub_(change);
    if (weights.data_ptr() != master.data_ptr()) weights.copy_(master);
  }

  double rate_ = 0, scale_ = 1;
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
