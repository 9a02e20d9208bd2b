#include "kernels/optimizer/adam.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/DeviceGuard.h>

#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "kernels/gpu/dispatch.h"
#include "kernels/optimizer/adam_kernel.h"
#include "kernels/optimizer/update_tensors.h"

namespace tandem {
namespace {

double correction(double beta, int64_t t) { return 1 - std::pow(beta, static_cast<double>(t)); }

AdamArguments argumentsOf(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient,
                          const AdamMoments& moments, const DeviceHyperparameters<AdamHyperparameters>& step,
                          const char* kernel) {
  const UpdateTensors tensors = updateTensors(master, weights, gradient, kernel);
  float* const mean = updateState(moments.mean, master, kernel);
  float* const square = updateState(moments.square, master, kernel);
  if (step.device() != master.device()) {
    throw InternalError(concat(kernel, ": the step lies on the device of the tensors"));
  }
  return {tensors, mean, square, step.get()};
}

}  // namespace

void adamUpdate(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient, const AdamMoments& moments,
                const DeviceHyperparameters<AdamHyperparameters>& step) {
  const AdamArguments arguments = argumentsOf(master, weights, gradient, moments, step, "adamUpdate");
  const int64_t count = master.numel();
  if (count == 0) return;
  if (!master.is_cpu()) {
    const c10::DeviceGuard guard(master.device());
    return gpu::adamUpdate(arguments, count, currentStream(master));
  }
  if (isSkipped(arguments.step->overflow)) return;
  at::parallel_for(0, count, updateGrainElements,
                   [&](int64_t first, int64_t last) { cpu::adamUpdate(arguments, first, last); });
}

at::Tensor lambDirection(const at::Tensor& master, const at::Tensor& gradient, const AdamMoments& moments,
                         const DeviceHyperparameters<AdamHyperparameters>& step) {
  at::Tensor weights = master;  // read alone
  const AdamArguments arguments = argumentsOf(weights, weights, gradient, moments, step, "lambDirection");
  const int64_t count = master.numel();
  at::Tensor direction = at::empty_like(master);
  float* const values = direction.mutable_data_ptr<float>();
  if (count == 0) return direction;
  if (!master.is_cpu()) {
    const c10::DeviceGuard guard(master.device());
    gpu::lambDirection(arguments, values, count, currentStream(master));
    return direction;
  }
  if (isSkipped(arguments.step->overflow)) return direction;
  at::parallel_for(0, count, updateGrainElements,
                   [&](int64_t first, int64_t last) { cpu::lambDirection(arguments, values, first, last); });
  return direction;
}

// The operations of torch.optim.Adam and AdamW, in their order.
void adamUpdateReference(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient,
                         const AdamMoments& moments, const AdamHyperparameters& step) {
  at::Tensor g = gradient.to(master.scalar_type()) * step.scale;
  if (step.decoupled) {
    master.mul_(1 - step.rate * step.weightDecay);
  } else {
    g = g.add(master, step.weightDecay);
  }
  moments.mean.lerp_(g, 1 - step.beta1);
  moments.square.mul_(step.beta2).addcmul_(g, g, 1 - step.beta2);
  const at::Tensor spread = moments.square.sqrt().div_(std::sqrt(correction(step.beta2, step.number)));
  master.addcdiv_(moments.mean, spread.add_(step.epsilon), -step.rate / correction(step.beta1, step.number));
  if (weights.data_ptr() != master.data_ptr()) weights.copy_(master);
}

}  // namespace tandem
