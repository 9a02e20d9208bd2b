#include "kernels/optimizer/adam.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/DeviceGuard.h>

#include <cmath>

#include "base/error.h"
#include "kernels/gpu/dispatch.h"
#include "kernels/optimizer/adam_kernel.h"
#include "kernels/optimizer/update_tensors.h"

namespace tandem {
namespace {

double correction(double beta, int64_t t) { return 1 - std::pow(beta, static_cast<double>(t)); }

}  // namespace

void adamUpdate(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient, const AdamMoments& moments,
                const DeviceHyperparameters<AdamHyperparameters>& step) {
  const UpdateTensors tensors = updateTensors(master, weights, gradient, "adamUpdate");
  float* const mean = updateState(moments.mean, master, "adamUpdate");
  float* const square = updateState(moments.square, master, "adamUpdate");
  check(step.device() == master.device(), "adamUpdate: the step lies on the device of the tensors");
  const AdamArguments arguments{tensors, mean, square, step.get()};
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
