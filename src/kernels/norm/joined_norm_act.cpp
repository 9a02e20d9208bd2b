#include "kernels/norm/joined_norm_act.h"

#include <ATen/ATen.h>

namespace tandem {
namespace {

// 16-bit values are computed in fp32.
at::Tensor wide(const at::Tensor& x) { return x.to(c10::promoteTypes(x.scalar_type(), at::kFloat)); }

at::Tensor meanOf(const at::Tensor& x) { return x.mean(othersOf(x)).to(at::kDouble); }
at::Tensor sumOf(const at::Tensor& x) { return x.sum(othersOf(x)).to(at::kDouble); }

}  // namespace

std::vector<int64_t> othersOf(const at::Tensor& x) {
  std::vector<int64_t> others{0};
  for (int64_t dimension = 2; dimension < x.dim(); ++dimension) others.push_back(dimension);
  return others;
}

at::Tensor perChannel(const at::Tensor& values, const at::Tensor& x) {
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  shape[1] = values.numel();
  return values.to(x.scalar_type()).view(shape);
}

at::Tensor normActJoined(const at::Tensor& x, const at::Tensor& residual, const NormParameters& parameters,
                         const NormActOptions& options, NormActSaved& saved) {
  const at::Tensor all = wide(x), mean = meanOf(all);
  const ChannelMoments own{mean, meanOf((all - perChannel(mean, all)).square())};
  const auto values = static_cast<double>(x.numel() / x.size(1));
  const JoinedMoments joint = joined(own, values, options.exchange);
  updateRunning(parameters, joint, options.momentum);
  saved = {};
  saved.parameters = parameters;
  saved.mean = joint.moments.mean, saved.values = joint.values;
  saved.inverseDeviation = (joint.moments.variance + options.epsilon).rsqrt();
  return normActJoinedAgain(x, residual, options, saved);
}

at::Tensor normActJoinedAgain(const at::Tensor& x, const at::Tensor& residual, const NormActOptions& options,
                              NormActSaved& saved) {
  const at::Tensor all = wide(x), factor = saved.parameters.scale * saved.inverseDeviation;
  at::Tensor y =
      (all - perChannel(saved.mean, all)) * perChannel(factor, all) + perChannel(saved.parameters.shift, all);
  if (residual.defined()) y.add_(residual);
  if (options.relu) y.relu_();
  y = y.to(x.scalar_type());
  saved.x = x;
  saved.y = options.relu ? y : at::Tensor();
  return y;
}

// With g the gradient of the output before the ReLU, and sums over the n values of all replicas:
// dx = scale / deviation * (g - sum(g) / n - (x - mean) / variance * sum(g * (x - mean)) / n).
NormActGradients normActJoinedBackward(std::vector<at::Tensor> outputGradients, const NormActSaved& saved,
                                       bool hasResidual, const NormActOptions& options) {
  at::Tensor gradient = addGradients(std::move(outputGradients));
  if (options.relu) gradient = at::threshold_backward(gradient, saved.y, 0);
  const at::Tensor g = wide(gradient), all = wide(saved.x), distance = all - perChannel(saved.mean, all);
  at::Tensor sum = sumOf(g), product = sumOf(g * distance);
  NormActGradients result;
  if (hasResidual) result.residual = gradient;
  result.shift = sum.to(saved.parameters.shift.scalar_type());
  result.scale = (product * saved.inverseDeviation).to(saved.parameters.scale.scalar_type());
  sumBoth(sum, product, options.exchange);
  const at::Tensor slope = saved.inverseDeviation.square() * product / saved.values;
  const at::Tensor inner = g - perChannel(sum / saved.values, g) - distance * perChannel(slope, g);
  result.x = (inner * perChannel(saved.parameters.scale * saved.inverseDeviation, g)).to(saved.x.scalar_type());
  return result;
}

}  // namespace tandem
