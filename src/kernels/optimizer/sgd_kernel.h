#pragma once

#include <cstdint>

#include "kernels/optimizer/sgd_step.h"
#include "kernels/optimizer/update_kernel.h"

namespace tandem {

struct SgdArguments : UpdateTensors {
  float* velocity;  ///< null: no momentum
  const SgdCoefficients* step;
};

namespace cpu {
/// Elements [first, last).
void sgdUpdate(const SgdArguments& arguments, int64_t first, int64_t last);
}  // namespace cpu

namespace gpu {
/// *there = coefficientsOf(step)
void prepare(SgdCoefficients* there, const SgdHyperparameters& step, void* stream);
void sgdUpdate(const SgdArguments& arguments, int64_t count, void* stream);
}  // namespace gpu

}  // namespace tandem
