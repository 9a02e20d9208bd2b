#include "kernels/gpu/block.cuh"
#include "kernels/pool/gpu_max_pool.h"

namespace tandem::gpu {

void maxPool(const MaxPoolProgram& program, void* stream) {
  std::visit([&](const auto& chosen) { launchProgram(chosen, stream); }, program);
}

}  // namespace tandem::gpu
