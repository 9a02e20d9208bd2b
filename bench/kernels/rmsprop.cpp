// RMSprop with momentum and weight decay: the kernel and the ATen operations of PyTorch's optimizer; ATen has no fused
// one. Minimum traffic of an element:
//
//   fp32   weight, gradient, square and velocity read, weight, square and velocity written: 28 bytes
//   bf16   fp32 master, square and velocity and the bf16 gradient read, these and the bf16 weight written: 28 bytes
#include "kernels/optimizer/rmsprop.h"

#include <ATen/ATen.h>

#include "rows.h"

namespace tandem::bench {
namespace {

constexpr double bytesPerElement = 28;
constexpr RmspropHyperparameters step{
    .rate = 1e-3, .decay = 0.9, .epsilon = 1e-8, .momentum = 0.9, .weightDecay = 1e-4};

struct Rmsprop {
  Rmsprop(int64_t count, at::ScalarType type)
      : master(randomVector(count, at::kFloat)),
        weights(master.to(type)),
        gradient(randomVector(count, type)),
        state{at::zeros({count}), at::zeros({count})} {
    prepared.set(step);
  }
  at::Tensor master, weights, gradient;
  RmspropState state;
  DeviceHyperparameters<RmspropHyperparameters> prepared{at::kCPU};
};

void byKernel(Rmsprop& rmsprop) {
  rmspropUpdate(rmsprop.master, rmsprop.weights, rmsprop.gradient, rmsprop.state, rmsprop.prepared);
}

void byAten(Rmsprop& rmsprop) {
  rmspropUpdateReference(rmsprop.master, rmsprop.weights, rmsprop.gradient, rmsprop.state, step);
}

}  // namespace

void addRmspropRows(const Peaks& peaks) {
  OptimizerRows<Rmsprop>{"rmsprop", bytesPerElement, byKernel, byAten, /*atenFused=*/nullptr}.add(peaks);
}

}  // namespace tandem::bench
