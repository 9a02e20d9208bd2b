#include "kernels/norm/joined_norm_act.h"

#include <ATen/ATen.h>

#include "kernels/norm/aten_activation.h"

namespace tandem {
namespace {

// 16-bit values are computed in fp32.
at::Tensor wide(const at::Tensor& x) { return x.to(c10::promoteTypes(x.scalar_type(), at::kFloat)); }

/// In fp32 at least.
at::Tensor normalised(const at::Tensor& x, const NormActSaved& statistics) {
  const NormParameters& p = statistics.parameters;
  const at::Tensor all = wide(x), factor = p.scale * statistics.inverseDeviation;
  return (all - perChannel(statistics.mean, all)) * perChannel(factor, all) + perChannel(p.shift, all);
}

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

at::Tensor gradientBeforeActivation(const at::Tensor& outputGradient, const NormActSaved& saved,
                                    const NormActOptions& options) {
  if (options.activation == Activation::none) return outputGradient;
  if (saved.y.defined()) return activationGradient(outputGradient, saved.y, options.activation);
  NormActSaved statistics;
  statistics.parameters = saved.parameters;
  statistics.mean = options.training ? saved.mean : saved.parameters.runningMean;
  statistics.inverseDeviation =
      options.training ? saved.inverseDeviation : (saved.parameters.runningVar + options.epsilon).rsqrt();
  return activationGradient(outputGradient, normalised(saved.x, statistics).to(saved.x.scalar_type()),
                            options.activation);
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
  at::Tensor y = normalised(x, saved);
  if (residual.defined()) y.add_(residual);
  activate(y, options.activation);
  y = y.to(x.scalar_type());
  saved.x = x;
  saved.y = options.activation == Activation::relu ? y : at::Tensor();
  return y;
}

// With g the gradient before the activation, and sums over the n values of all replicas:
// dx = scale / deviation * (g - sum(g) / n - (x - mean) / variance * sum(g * (x - mean)) / n).
NormActGradients normActJoinedBackward(std::vector<at::Tensor> outputGradients, const NormActSaved& saved,
                                       bool hasResidual, const NormActOptions& options) {
  const at::Tensor gradient = gradientBeforeActivation(addGradients(std::move(outputGradients)), saved, options);
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
