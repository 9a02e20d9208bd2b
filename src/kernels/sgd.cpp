#include "kernels/sgd.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/DeviceGuard.h>

#include "kernels/launch.h"
#include "kernels/sgd_bodies.h"
#include "kernels/update_tensors.h"

namespace tandem {
namespace {

SgdArguments argumentsOf(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient, at::Tensor& velocity,
                         const SgdStep& step) {
  const UpdateTensors tensors = updateTensors(master, weights, gradient, "sgdUpdate");
  return {tensors, step.momentum != 0 ? updateState(velocity, master, "sgdUpdate") : nullptr, step};
}

}  // namespace

void sgdUpdate(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient, at::Tensor& velocity,
               const SgdStep& step) {
  SgdArguments arguments = argumentsOf(master, weights, gradient, velocity, step);
  const int64_t count = master.numel();
  if (count == 0) return;
  if (!master.is_cpu()) {
    const c10::DeviceGuard guard(master.device());
    return gpu::sgdUpdate(arguments, count, currentStream(master));
  }
  if (isSkipped(step.scaled)) return;
  arguments.step.scale /= lossScaleOf(step.scaled);
  at::parallel_for(0, count, updateGrainElements,
                   [&](int64_t first, int64_t last) { cpu::sgdUpdate(arguments, first, last); });
}

void sgdUpdateReference(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient, at::Tensor& velocity,
                        const SgdStep& step) {
  const at::Tensor g = gradient.to(at::kFloat) * step.scale + master * step.weightDecay;
  at::Tensor direction = g;
  if (step.momentum != 0) {
    velocity.mul_(step.momentum).add_(g);
    direction = step.nesterov ? g + velocity * step.momentum : velocity;
  }
  master.sub_(direction * step.rate);
  if (weights.data_ptr() != master.data_ptr()) weights.copy_(master);
}

}  // namespace tandem
