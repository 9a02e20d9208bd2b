#pragma once

#include <cstdint>

#include "kernels/bf16.h"
#include "kernels/sgd_step.h"

namespace tandem {

struct SgdArguments {
  float* master;
  void* weights;  ///< null: the same memory as master
  const void* gradient;
  float* velocity;  ///< null: no momentum
  Element weightType, gradientType;
  SgdStep step;
};

namespace cpu {
/// Elements [first, last).
void sgdUpdate(const SgdArguments& arguments, int64_t first, int64_t last);
}  // namespace cpu

namespace gpu {
void sgdUpdate(const SgdArguments& arguments, int64_t count, void* stream);
}  // namespace gpu

}  // namespace tandem
