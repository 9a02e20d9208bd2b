#include "kernels/gpu/launch.cuh"
#include "kernels/optimizer/adam_kernel.h"
#include "kernels/optimizer/rmsprop_kernel.h"
#include "kernels/optimizer/sgd_kernel.h"

namespace tandem::gpu {
namespace {

// On one thread: fp64 powers are slow on many GPUs, and all elements need the same values.
template <class Step>
__global__ void prepareKernel(typename Step::Coefficients* there, Step step) {
  if (threadIdx.x == 0) *there = coefficientsOf(step);
}

}  // namespace

void prepare(SgdCoefficients* there, const SgdHyperparameters& step, void* stream) {
  launchBlocks(prepareKernel<SgdHyperparameters>, 1, stream, there, step);
}

void prepare(AdamCoefficients* there, const AdamHyperparameters& step, void* stream) {
  launchBlocks(prepareKernel<AdamHyperparameters>, 1, stream, there, step);
}

void prepare(RmspropCoefficients* there, const RmspropHyperparameters& step, void* stream) {
  launchBlocks(prepareKernel<RmspropHyperparameters>, 1, stream, there, step);
}

}  // namespace tandem::gpu
