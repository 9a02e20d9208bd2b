#pragma once

#include <math.h>

#include <cstdint>

#include "kernels/adam_step.h"
#include "kernels/block_program.h"
#include "kernels/update_bodies.h"

namespace tandem {

/// What is left of an AdamStep for each element:
///   g = scale * gradient + decay * w;  m = beta1 * m + gain1 * g;  v = beta2 * v + gain2 * g * g
///   w = keep * w - rate * m / (spread * sqrt(v) + epsilon)
struct AdamArguments : UpdateTensors {
  float *mean, *square;
  AdamStep step;
  float decay, keep, beta1, gain1, beta2, gain2, epsilon;
  float scale = 1, rate = 0, spread = 1;  ///< by setNumber()

  /// The update after t gradients of a loss that was scaled so: what a running mean with weight beta lacks yet, having
  /// begun at zero, is 1 - beta^t.
  TANDEM_THREAD void setNumber(double t, double lossScale) {
    scale = static_cast<float>(step.scale / lossScale);
    rate = static_cast<float>(step.rate / (1 - pow(step.beta1, t)));
    spread = static_cast<float>(1 / sqrt(1 - pow(step.beta2, t)));
  }
};

namespace cpu {
/// Elements [first, last).
void adamUpdate(const AdamArguments& arguments, int64_t first, int64_t last);
}  // namespace cpu

namespace gpu {
void adamUpdate(const AdamArguments& arguments, int64_t count, void* stream);
}  // namespace gpu

}  // namespace tandem
