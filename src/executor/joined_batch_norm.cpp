#include "executor/joined_batch_norm.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/norm/joined_norm_act.h"

namespace tandem {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The sum over all replicas. Its derivative is the same sum: each replica's value is in the sum of each.
struct SumOverReplicas : torch::autograd::Function<SumOverReplicas> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& values, int64_t exchange) {
    context->saved_data["exchange"] = exchange;
    return summed(values, exchange);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    return {summed(gradients[0], context->saved_data["exchange"].toInt()), at::Tensor()};
  }

 private:
  static at::Tensor summed(const at::Tensor& values, int64_t exchange) {
    const at::NoGradGuard noGradients;
    at::Tensor sum = values.clone().contiguous();
    reinterpret_cast<StatisticsExchange*>(exchange)->sum(sum);
    return sum;
  }
};

}  // namespace

// In fp64. First the mean, then the deviations from it: each is a sum over all replicas.
at::Tensor joinedBatchNorm(OperationArguments& a) {
  const at::Tensor x = a.inputs[0].to(at::kDouble);
  const std::vector<int64_t> others = othersOf(x);
  const auto sum = [&](const at::Tensor& values) {
    return SumOverReplicas::apply(values, reinterpret_cast<int64_t>(a.statistics));
  };
  const at::Tensor count = at::full({1}, static_cast<double>(x.numel() / x.size(1)), x.options());
  const double values = sum(count).item<double>();
  const at::Tensor mean = sum(x.sum(others)) / values;
  const at::Tensor distance = x - perChannel(mean, x);
  const at::Tensor variance = sum(distance.square().sum(others)) / values;
  {
    const at::NoGradGuard noGradients;
    updateRunning({.scale = {}, .shift = {}, .runningMean = a.runningMean, .runningVar = a.runningVar},
                  {{mean.detach(), variance.detach()}, values}, a.attributes.momentum);
  }
  at::Tensor y = distance * perChannel((variance + a.attributes.epsilon).rsqrt(), x);
  if (a.weight.defined()) y = y * perChannel(a.weight.to(at::kDouble), x);
  if (a.bias.defined()) y = y + perChannel(a.bias.to(at::kDouble), x);
  return y.to(a.inputs[0].scalar_type(), /*non_blocking=*/false, /*copy=*/false, a.inputs[0].suggest_memory_format());
}

}  // namespace tandem
