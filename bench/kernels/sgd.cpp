// SGD with momentum and weight decay: the kernel, the ATen operations of PyTorch's optimizer, and ATen's own fused one
// (fp32 only: it knows no master weights). Minimum traffic of an element:
//
//   fp32   weight, gradient and velocity read, weight and velocity written: 20 bytes
//   bf16   fp32 master and velocity and the bf16 gradient read, master, velocity and the bf16 weight written: 20 bytes
#include "kernels/optimizer/sgd.h"

#include <ATen/ATen.h>

#include "rows.h"

namespace tandem::bench {
namespace {

constexpr double bytesPerElement = 20;
constexpr SgdHyperparameters step{1e-3F, 0.9F, 1e-4F, 1, false};

struct Sgd {
  Sgd(int64_t count, at::ScalarType type)
      : master(randomVector(count, at::kFloat)),
        weights(master.to(type)),
        gradient(randomVector(count, type)),
        velocity(at::zeros({count})) {
    prepared.set(step);
  }
  at::Tensor master, weights, gradient, velocity;
  DeviceHyperparameters<SgdHyperparameters> prepared{at::kCPU};
};

void byKernel(Sgd& sgd) { sgdUpdate(sgd.master, sgd.weights, sgd.gradient, sgd.velocity, sgd.prepared); }

void byAten(Sgd& sgd) {
  const at::Tensor decayed = sgd.gradient.to(at::kFloat).add(sgd.master, step.weightDecay);
  sgd.velocity.mul_(step.momentum).add_(decayed);
  sgd.master.sub_(sgd.velocity, step.rate);
  if (!sgd.weights.is_same(sgd.master)) sgd.weights.copy_(sgd.master);
}

void byAtenFused(Sgd& sgd) {
  at::_fused_sgd_({sgd.master}, {sgd.gradient}, {sgd.velocity}, step.weightDecay, step.momentum,
                  static_cast<double>(step.rate), /*dampening=*/0, step.nesterov, /*maximize=*/false,
                  /*is_first_step=*/false);
}

}  // namespace

void addSgdRows(const Peaks& peaks) {
  OptimizerRows<Sgd>{"sgd", bytesPerElement, byKernel, byAten, byAtenFused}.add(peaks);
}

}  // namespace tandem::bench
