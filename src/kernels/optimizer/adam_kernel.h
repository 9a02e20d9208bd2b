#pragma once

#include <cstdint>

#include "kernels/optimizer/adam_step.h"
#include "kernels/optimizer/update_kernel.h"

namespace tandem {

struct AdamArguments : UpdateTensors {
  float *mean, *square;
  const AdamCoefficients* step;
};

namespace cpu {
/// Elements [first, last).
void adamUpdate(const AdamArguments& arguments, int64_t first, int64_t last);
}  // namespace cpu

namespace gpu {
/// *there = coefficientsOf(step)
void prepare(AdamCoefficients* there, const AdamHyperparameters& step, void* stream);
void adamUpdate(const AdamArguments& arguments, int64_t count, void* stream);
}  // namespace gpu

}  // namespace tandem
