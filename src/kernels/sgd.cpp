#include "kernels/sgd.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/DeviceGuard.h>

#include "base/error.h"
#include "kernels/launch.h"
#include "kernels/sgd_bodies.h"

namespace tandem {
namespace {

constexpr int64_t grainElements = 1 << 15;

void checkVector(const at::Tensor& tensor, const at::Tensor& like, const char* what) {
  check(
      tensor.dim() == 1 && tensor.numel() == like.numel() && tensor.is_contiguous() && tensor.device() == like.device(),
      what);
}

SgdArguments argumentsOf(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient, at::Tensor& velocity,
                         const SgdStep& step) {
  checkVector(master, master, "sgdUpdate: master [n]");
  checkVector(weights, master, "sgdUpdate: weights like master");
  checkVector(gradient, master, "sgdUpdate: gradient like master");
  check(master.scalar_type() == at::kFloat, "sgdUpdate: master is fp32");
  const bool hasMomentum = step.momentum != 0;
  if (hasMomentum) {
    checkVector(velocity, master, "sgdUpdate: velocity like master");
    check(velocity.scalar_type() == at::kFloat, "sgdUpdate: velocity is fp32");
  }
  void* const separate = weights.data_ptr() == master.data_ptr() ? nullptr : weights.data_ptr();
  return {master.data_ptr<float>(),
          separate,
          gradient.const_data_ptr(),
          hasMomentum ? velocity.data_ptr<float>() : nullptr,
          elementOf(weights, "sgdUpdate: weights"),
          elementOf(gradient, "sgdUpdate: gradient"),
          step};
}

}  // namespace

void sgdUpdate(at::Tensor& master, at::Tensor& weights, const at::Tensor& gradient, at::Tensor& velocity,
               const SgdStep& step) {
  const SgdArguments arguments = argumentsOf(master, weights, gradient, velocity, step);
  const int64_t count = master.numel();
  if (count == 0) return;
  if (!master.is_cpu()) {
    const c10::DeviceGuard guard(master.device());
    return gpu::sgdUpdate(arguments, count, currentStream(master));
  }
  at::parallel_for(0, count, grainElements,
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
