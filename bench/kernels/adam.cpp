// Adam with weight decay: the kernel, the ATen operations of PyTorch's optimizer, and ATen's own fused one (fp32 only:
// it knows no master weights). Minimum traffic of an element:
//
//   fp32   weight, gradient and both moments read, weight and moments written: 28 bytes
//   bf16   fp32 master and moments and the bf16 gradient read, master, moments and the bf16 weight written: 28 bytes
#include "kernels/optimizer/adam.h"

#include <ATen/ATen.h>

#include "rows.h"

namespace tandem::bench {
namespace {

constexpr double bytesPerElement = 28;
constexpr AdamHyperparameters step{.rate = 1e-3, .weightDecay = 1e-4, .number = 10};

struct Adam {
  Adam(int64_t count, at::ScalarType type)
      : master(randomVector(count, at::kFloat)),
        weights(master.to(type)),
        gradient(randomVector(count, type)),
        moments{at::zeros({count}), at::zeros({count})},
        number(at::full({}, static_cast<double>(step.number), at::kFloat)) {
    prepared.set(step);
  }
  at::Tensor master, weights, gradient;
  AdamMoments moments;
  at::Tensor number;  // of the step, for ATen
  DeviceHyperparameters<AdamHyperparameters> prepared{at::kCPU};
};

void byKernel(Adam& adam) { adamUpdate(adam.master, adam.weights, adam.gradient, adam.moments, adam.prepared); }

void byAten(Adam& adam) { adamUpdateReference(adam.master, adam.weights, adam.gradient, adam.moments, step); }

void byAtenFused(Adam& adam) {
  at::_fused_adam_({adam.master}, {adam.gradient}, {adam.moments.mean}, {adam.moments.square}, {}, {adam.number},
                   step.rate, step.beta1, step.beta2, step.weightDecay, step.epsilon, /*amsgrad=*/false,
                   /*maximize=*/false);
}

}  // namespace

void addAdamRows(const Peaks& peaks) {
  OptimizerRows<Adam>{"adam", bytesPerElement, byKernel, byAten, byAtenFused}.add(peaks);
}

}  // namespace tandem::bench
