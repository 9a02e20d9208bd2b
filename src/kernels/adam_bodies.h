#pragma once

#include <cstdint>

#include "kernels/update_bodies.h"

namespace tandem {

/// What is left of an AdamStep for each element:
///   g = scale * gradient + decay * w;  m = beta1 * m + gain1 * g;  v = beta2 * v + gain2 * g * g
///   w = keep * w - rate * m / (spread * sqrt(v) + epsilon)
struct AdamArguments : UpdateTensors {
  float *mean, *square;
  float scale, decay, keep, beta1, gain1, beta2, gain2, rate, spread, epsilon;
};

namespace cpu {
/// Elements [first, last).
void adamUpdate(const AdamArguments& arguments, int64_t first, int64_t last);
}  // namespace cpu

namespace gpu {
void adamUpdate(const AdamArguments& arguments, int64_t count, void* stream);
}  // namespace gpu

}  // namespace tandem
