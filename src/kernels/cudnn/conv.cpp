#include "kernels/cudnn/conv.h"

#include <ATen/ATen.h>

#include <map>
#include <utility>

#include "kernels/cudnn/built_plan.h"
#include "kernels/gpu/dispatch.h"

namespace tandem {
namespace {

constexpr auto channelsLast = at::MemoryFormat::ChannelsLast;

bool hasEqualPadding(const ConvolutionGeometry& g) { return g.top == g.bottom && g.left == g.right; }

/// The gradient of x or of the weight, by ATen.
at::Tensor gradientByAten(ConvolutionPass pass, const ConvolutionGeometry& g, const ConvolutionTensors& t) {
  const bool ofInput = pass == ConvolutionPass::inputGradient;
  auto [input, weight, bias] =
      at::convolution_backward(t.y, t.x, t.weight, std::nullopt, {g.strideH, g.strideW}, {g.top, g.left}, {1, 1},
                               /*transposed=*/false, {0, 0}, g.groups, {ofInput, !ofInput, false});
  return ofInput ? input : weight;
}

at::Tensor forwardByAten(const ConvolutionGeometry& g, const at::Tensor& x, const at::Tensor& weight,
                         const at::Tensor& bias) {
  return at::conv2d(x, weight, bias, {g.strideH, g.strideW}, {g.top, g.left}, {1, 1}, g.groups);
}

at::Tensor byAten(ConvolutionPass pass, const ConvolutionGeometry& g, const ConvolutionTensors& t) {
  return pass == ConvolutionPass::forward ? forwardByAten(g, t.x, t.weight, {}) : gradientByAten(pass, g, t);
}

/// The tensor that a pass writes.
const at::Tensor& resultOf(ConvolutionPass pass, const ConvolutionTensors& t) {
  return pass == ConvolutionPass::forward ? t.y : pass == ConvolutionPass::inputGradient ? t.x : t.weight;
}

constexpr size_t passes = 3;

class CudnnConvolution final : public Convolution {
 public:
  CudnnConvolution(const ConvolutionGeometry& geometry, ConvolutionParameters parameters, PassPlans engines,
                   ConvPlansOf plansOf)
      : g_(geometry), p_(std::move(parameters)), chosen_(std::move(engines)), enginesOf_(std::move(plansOf)) {}

  void weightsChanged() override {}  // plans read the weights in place

  at::Tensor forward(const at::Tensor& x) override {
    const BuiltPlan* const engine = engineFor(ConvolutionPass::forward, x);
    const at::Tensor y = engine != nullptr ? forwardBy(*engine, x, nullptr) : at::Tensor();
    return y.defined() ? y : forwardByAten(g_, x, p_.weight, p_.bias);
  }

  at::Tensor forwardWithStats(const at::Tensor& x, ChannelStats& sums) override {
    sums = {};
    const BuiltPlan* const engine = engineFor(ConvolutionPass::forward, x, /*sums=*/true);
    const at::Tensor y = engine != nullptr ? forwardBy(*engine, x, &sums) : at::Tensor();
    return y.defined() ? y : forward(x);
  }

  at::Tensor backwardInput(const at::Tensor& x, const at::Tensor& dy) override {
    const BuiltPlan* const engine = engineFor(ConvolutionPass::inputGradient, x);
    if (engine != nullptr) {
      const ConvolutionTensors tensors{at::empty_like(x), p_.weight, dy};
      if (areAligned(inOrder(tensors))) {
        engine->run(inOrder(tensors));
        return tensors.x;
      }
    }
    return gradientByAten(ConvolutionPass::inputGradient, g_, {x, p_.weight, dy});
  }

  void backwardParameters(const at::Tensor& x, const at::Tensor& dy) override {
    const at::Tensor& gradient = p_.weightGradient;
    const BuiltPlan* const engine = engineFor(ConvolutionPass::weightGradient, x);
    // A plan writes the compute type. Gradients that are exchanged in another type need a copy.
    const bool direct = gradient.scalar_type() == x.scalar_type() && gradient.is_contiguous(channelsLast);
    const ConvolutionTensors tensors{x, direct || engine == nullptr ? gradient : at::empty_like(p_.weight), dy};
    if (engine != nullptr && areAligned(inOrder(tensors))) {
      engine->run(inOrder(tensors));
      if (!direct) gradient.copy_(tensors.weight);
    } else {
      gradient.copy_(gradientByAten(ConvolutionPass::weightGradient, g_, {x, p_.weight, dy}));
    }
    if (p_.bias.defined()) p_.biasGradient.copy_(dy.sum({0, 2, 3}));
  }

 private:
  ConvolutionProblem problemOf(ConvolutionPass pass, const at::Tensor& x) const {
    return tandem::problemOf(pass, g_, x.scalar_type(), x.sizes(), p_.weight.sizes());
  }
  /// Null: ATen computes this pass.
  const BuiltPlan* engineFor(ConvolutionPass pass, const at::Tensor& x, bool sums = false) {
    const auto at = sums ? passes : static_cast<size_t>(pass);
    const std::string& name = sums ? chosen_.withStats : chosen_.names[at];
    if (name.empty() || name == atenName) return nullptr;
    if (x.size(0) != chosen_.images || x.scalar_type() != p_.weight.scalar_type()) return nullptr;
    auto [place, isNew] = made_[at].try_emplace(x.sizes().vec());
    if (isNew) {
      ConvolutionProblem problem = problemOf(pass, x);
      problem.sums = sums;
      place->second = buildPlan(enginesOf_(problem), name, problem.text(),
                                sums ? "the convolution without sums" : "ATen's convolution");
    }
    return place->second.engines ? &place->second : nullptr;
  }

  /// An undefined tensor, and undefined statistics, if an address is not aligned. `sums` null: not requested.
  at::Tensor forwardBy(const BuiltPlan& engine, const at::Tensor& x, ChannelStats* sums) const {
    const ConvolutionProblem problem = problemOf(ConvolutionPass::forward, x);
    at::Tensor y = at::empty({problem.images, problem.outputs, problem.outputHeight(), problem.outputWidth()},
                             x.options().memory_format(channelsLast));
    ConvolutionTensors tensors{x, p_.weight, y};
    const auto perChannel = [&] { return at::empty({problem.outputs}, x.options().dtype(at::kFloat)); };
    if (sums != nullptr) tensors.sums = {perChannel(), perChannel()};
    if (!areAligned(inOrder(tensors))) return {};
    engine.run(inOrder(tensors));
    if (p_.bias.defined()) y.add_(p_.bias.view({1, -1, 1, 1}));
    if (sums == nullptr) return y;
    *sums = tensors.sums;
    if (p_.bias.defined()) sums->about = p_.bias.to(at::kFloat);  // y - bias was summed
    return y;
  }

  ConvolutionGeometry g_;
  ConvolutionParameters p_;
  PassPlans chosen_;
  ConvPlansOf enginesOf_;
  // By pass, with forward with statistics as the last; then by the shape of x.
  std::array<std::map<std::vector<int64_t>, BuiltPlan>, passes + 1> made_;
};

}  // namespace

std::unique_ptr<Convolution> makeCudnnConvolution(const ConvolutionGeometry& geometry,
                                                  const ConvolutionParameters& parameters, PassPlans engines,
                                                  ConvPlansOf plansOf) {
  const at::Tensor& weight = parameters.weight;
  if (!hasEqualPadding(geometry) || geometry.blockedOutput || !isElement(weight.scalar_type())) return nullptr;
  if (weight.dim() != 4 || !weight.is_contiguous(channelsLast)) return nullptr;
  return std::make_unique<CudnnConvolution>(geometry, parameters, std::move(engines), std::move(plansOf));
}

std::vector<at::Tensor> inOrder(const ConvolutionTensors& t) {
  if (!t.sums.defined()) return {t.x, t.weight, t.y};
  return {t.x, t.weight, t.y, t.sums.sum, t.sums.squares};
}

std::vector<TuningCandidate> convolutionCandidates(ConvolutionPass pass, const ConvolutionGeometry& geometry,
                                                   const ConvolutionTensors& tensors,
                                                   std::shared_ptr<ExecutionPlans> engines) {
  std::vector<TuningCandidate> candidates;
  // A step copies what ATen returns to where the gradient is wanted; a plan writes it there.
  const bool copies = pass == ConvolutionPass::weightGradient;
  const auto wanted = copies ? at::empty_like(tensors.weight) : at::Tensor();
  candidates.push_back({std::string(atenName), [] { return std::optional<int64_t>(0); },
                        [=] {
                          const at::Tensor result = byAten(pass, geometry, tensors);
                          if (copies) wanted.copy_(result);
                        }});
  if (!engines || !areAligned(inOrder(tensors))) return candidates;
  const auto expected = std::make_shared<at::Tensor>();
  const auto isRight = [=] {
    if (!expected->defined()) *expected = byAten(pass, geometry, tensors);
    return isNear(resultOf(pass, tensors), *expected);
  };
  addPlans(
      candidates, engines, [all = inOrder(tensors)]() -> std::span<const at::Tensor> { return all; }, isRight);
  return candidates;
}

}  // namespace tandem
