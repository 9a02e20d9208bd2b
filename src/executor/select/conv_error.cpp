#include "executor/select/conv_error.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

#include "kernels/conv/nchwc.h"

namespace tandem {
namespace {

constexpr int64_t trialImages = 1;

at::Tensor drawn(at::IntArrayRef shape, at::ScalarType type, uint64_t seed) {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  return at::empty(shape).normal_(0, 1, generator).to(type).contiguous(at::MemoryFormat::ChannelsLast);
}

/// The tensors of a layer, rounded to the type, and the exact results.
struct ExactPasses {
  at::Tensor x, dy, weight, bias;                   // bias: undefined if the layer has none
  std::array<at::Tensor, convolutionPasses> exact;  // y, dx, gradient of the weight; fp64
};

ExactPasses exactPasses(const TrialLayer& layer, at::ScalarType type) {
  const Attributes& a = layer.attributes;
  const ImageShape &in = layer.input, &out = layer.output;
  ExactPasses passes{drawn({trialImages, in.channels, in.height, in.width}, type, 1),
                     drawn({trialImages, out.channels, out.height, out.width}, type, 2),
                     drawn({a.outputs, in.channels / a.groups, a.kernelH, a.kernelW}, type, 3),
                     a.bias ? at::zeros({a.outputs}, type) : at::Tensor(),
                     {}};
  const Padding& p = a.padding;
  const at::Tensor padded = at::constant_pad_nd(passes.x.to(at::kDouble), {p.left, p.right, p.top, p.bottom}, 0);
  const at::Tensor weight = passes.weight.to(at::kDouble), dy = passes.dy.to(at::kDouble);
  const std::array<int64_t, 2> stride{a.strideH, a.strideW}, zero{0, 0}, one{1, 1};
  passes.exact[0] = at::conv2d(padded, weight, {}, stride, zero, one, a.groups);
  const auto [dx, dw, none] = at::convolution_backward(dy, padded, weight, std::nullopt, stride, zero, one,
                                                       /*transposed=*/false, zero, a.groups, {true, true, false});
  passes.exact[1] = dx.slice(2, p.top, p.top + in.height).slice(3, p.left, p.left + in.width);
  passes.exact[2] = dw;
  return passes;
}

double relativeError(const at::Tensor& result, const at::Tensor& exact) {
  const double norm = exact.norm().item<double>();
  return norm > 0 ? (result.to(at::kDouble).reshape_as(exact) - exact).norm().item<double>() / norm : 0;
}

PassErrors errorsOf(const TrialLayer& layer, const ConvCandidate& candidate, const ExactPasses& of) {
  const ConvolutionParameters parameters = emptyParameters(layer, *candidate.layout, of.x.scalar_type());
  at::Tensor(parameters.weight).copy_(of.weight.reshape(parameters.weight.sizes()));
  if (of.bias.defined()) at::Tensor(parameters.bias).copy_(of.bias);
  const auto kernel = kernelFor(layer, candidate, parameters);
  const at::Tensor x = blocksInput(layer, *candidate.layout) ? toBlocked(of.x) : of.x;
  const at::Tensor dy = blocksOutput(layer, *candidate.layout) ? toBlocked(of.dy) : of.dy;
  const auto plain = [](const at::Tensor& values, bool blocked) {
    return blocked ? fromBlocked(values, trialImages) : values;
  };
  kernel->weightsChanged();
  PassErrors errors{};
  if (candidate.measures(0)) {
    errors[0] = relativeError(plain(kernel->forward(x), blocksOutput(layer, *candidate.layout)), of.exact[0]);
  }
  if (candidate.measures(1) && layer.wantsInputGradient) {
    errors[1] = relativeError(plain(kernel->backwardInput(x, dy), blocksInput(layer, *candidate.layout)), of.exact[1]);
  }
  if (candidate.measures(2)) {
    kernel->backwardParameters(x, dy);
    errors[2] = relativeError(parameters.weightGradient, of.exact[2]);
  }
  return errors;
}

}  // namespace

std::vector<PassErrors> convolutionErrors(const TrialLayer& layer, const std::vector<ConvCandidate>& candidates,
                                          at::ScalarType type) {
  const at::NoGradGuard noGradients;
  const ExactPasses passes = exactPasses(layer, type);
  std::vector<PassErrors> errors;
  for (const ConvCandidate& candidate : candidates) errors.push_back(errorsOf(layer, candidate, passes));
  return errors;
}

std::vector<PassMarks> accurateEnough(const std::vector<PassErrors>& errors,
                                      const std::vector<ConvCandidate>& candidates, double accuracy) {
  std::vector<PassMarks> enough(errors.size());
  size_t first = 0;  // of the layout
  for (size_t i = 0; i < errors.size(); ++i) {
    if (candidates[i].layout != candidates[first].layout) first = i;
    for (size_t pass = 0; pass < convolutionPasses; ++pass) {
      enough[i][pass] = errors[i][pass] <= accuracy * errors[first][pass];
    }
  }
  return enough;
}

}  // namespace tandem
