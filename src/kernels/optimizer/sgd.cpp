#include "kernels/optimizer/sgd.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/DeviceGuard.h>

#include "base/error.h"
#include "kernels/gpu/dispatch.h"
#include "kernels/optimizer/sgd_kernel.h"
#include "kernels/optimizer/update_tensors.h"

namespace tandem {
namespace {

SgdArguments argumentsOf(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient, at::Tensor& velocity,
                         const DeviceHyperparameters<SgdHyperparameters>& step, const at::Tensor& trust) {
  const UpdateTensors tensors = updateTensors(master, weights, gradient, "sgdUpdate");
  check(step.device() == master.device(), "sgdUpdate: the step lies on the device of the tensors");
  return {tensors, velocity.defined() ? updateState(velocity, master, "sgdUpdate") : nullptr, step.get(),
          updateFactor(trust, master, "sgdUpdate")};
}

}  // namespace

void sgdUpdate(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient, at::Tensor& velocity,
               const DeviceHyperparameters<SgdHyperparameters>& step, const at::Tensor& trust) {
  const SgdArguments arguments = argumentsOf(master, weights, gradient, velocity, step, trust);
  const int64_t count = master.numel();
  if (count == 0) return;
  if (!master.is_cpu()) {
    const c10::DeviceGuard guard(master.device());
    return gpu::sgdUpdate(arguments, count, currentStream(master));
  }
  check(velocity.defined() || arguments.step->momentum == 0, "sgdUpdate: momentum needs a velocity");
  if (isSkipped(arguments.step->overflow)) return;
  at::parallel_for(0, count, updateGrainElements,
                   [&](int64_t first, int64_t last) { cpu::sgdUpdate(arguments, first, last); });
}

void sgdUpdateReference(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient, at::Tensor& velocity,
                        const SgdHyperparameters& step) {
  const at::Tensor g = gradient.to(master.scalar_type()) * step.scale + master * step.weightDecay;
  at::Tensor direction = g;
  if (step.momentum != 0) {
    velocity.mul_(step.momentum).add_(g);
    direction = step.nesterov ? g + velocity * step.momentum : velocity;
  }
  master.sub_(direction * step.rate);
  if (weights.data_ptr() != master.data_ptr()) weights.copy_(master);
}

}  // namespace tandem
