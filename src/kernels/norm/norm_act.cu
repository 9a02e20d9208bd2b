#include "kernels/gpu/block.cuh"
#include "kernels/norm/gpu_norm_act.h"

namespace tandem::gpu {

void normAct(const NormProgram& program, void* stream) {
  std::visit([&](const auto& chosen) { launchProgram(chosen, stream); }, program);
}

}  // namespace tandem::gpu
