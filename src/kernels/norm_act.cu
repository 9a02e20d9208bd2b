#include "kernels/cuda_block.cuh"
#include "kernels/norm_act_programs.h"

namespace tandem::gpu {

void normAct(const NormProgram& program, void* stream) {
  std::visit([&](const auto& chosen) { launchProgram(chosen, stream); }, program);
}

}  // namespace tandem::gpu
