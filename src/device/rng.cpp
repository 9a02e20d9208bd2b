#include "device/rng.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>

namespace tandem {

at::Generator newGenerator(at::Device device, uint64_t seed) {
  at::Generator generator = device.is_cuda() ? at::detail::getCUDAHooks().getNewGenerator(device.index())
                                             : at::detail::createCPUGenerator(seed);
  generator.set_current_seed(seed);
  return generator;
}

}  // namespace tandem
