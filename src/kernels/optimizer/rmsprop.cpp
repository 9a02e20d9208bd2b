#include "kernels/optimizer/rmsprop.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/DeviceGuard.h>

#include "base/error.h"
#include "kernels/gpu/dispatch.h"
#include "kernels/optimizer/update_tensors.h"

namespace tandem {

void rmspropUpdate(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient, const RmspropState& state,
                   const DeviceHyperparameters<RmspropHyperparameters>& step) {
  const UpdateTensors tensors = updateTensors(master, weights, gradient, "rmspropUpdate");
  float* const square = updateState(state.square, master, "rmspropUpdate");
  float* const velocity = state.velocity.defined() ? updateState(state.velocity, master, "rmspropUpdate") : nullptr;
  check(step.device() == master.device(), "rmspropUpdate: the step lies on the device of the tensors");
  const RmspropArguments arguments{tensors, square, velocity, step.get()};
  const int64_t count = master.numel();
  if (count == 0) return;
  if (!master.is_cpu()) {
    const c10::DeviceGuard guard(master.device());
    return gpu::rmspropUpdate(arguments, count, currentStream(master));
  }
  check(velocity != nullptr || arguments.step->momentum == 0, "rmspropUpdate: momentum needs a velocity");
  if (isSkipped(arguments.step->overflow)) return;
  at::parallel_for(0, count, updateGrainElements,
                   [&](int64_t first, int64_t last) { cpu::rmspropUpdate(arguments, first, last); });
}

// The operations of torch.optim.RMSprop, in their order.
void rmspropUpdateReference(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient,
                            const RmspropState& state, const RmspropHyperparameters& step) {
  const at::Tensor g = (gradient.to(master.scalar_type()) * step.scale).add(master, step.weightDecay);
  at::Tensor square = state.square, velocity = state.velocity;
  square.mul_(step.decay).addcmul_(g, g, 1 - step.decay);
  const at::Tensor root = square.sqrt().add_(step.epsilon);
  if (step.momentum > 0) {
    velocity.mul_(step.momentum).addcdiv_(g, root);
    master.add_(velocity, -step.rate);
  } else {
    master.addcdiv_(g, root, -step.rate);
  }
  if (weights.data_ptr() != master.data_ptr()) weights.copy_(master);
}

}  // namespace tandem
