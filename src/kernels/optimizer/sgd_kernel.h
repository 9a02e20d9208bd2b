#pragma once

#include <cstdint>

#include "kernels/optimizer/scaled_loss.h"
#include "kernels/optimizer/update_kernel.h"

namespace tandem {

/// The per-element form of SgdHyperparameters.
struct SgdCoefficients {
  float rate, momentum, weightDecay, scale;
  bool nesterov;
  const float* overflow;  ///< device address, or null; not 0: update nothing
  const float* clip;      ///< device address, or null: factor of gradients
};

/// One step of SGD by PyTorch's rule. The gradient of a scaled loss is divided by its scale first.
///   g = scale * gradient + weightDecay * w;  v = momentum * v + g;  w -= rate * (nesterov ? g + momentum * v : v)
struct SgdHyperparameters {
  using Coefficients = SgdCoefficients;
  float rate = 0, momentum = 0, weightDecay = 0, scale = 1;
  bool nesterov = false;
  ScaledLoss scaled = {};
  const float* clip = nullptr;  ///< device address, or null: one more factor of gradients, which updates read
};

/// Runs on the device that holds `scaled`.
TANDEM_THREAD SgdCoefficients coefficientsOf(const SgdHyperparameters& step) {
  const float scale = step.scale / lossScaleOf(step.scaled);
  return {step.rate, step.momentum, step.weightDecay, scale, step.nesterov, step.scaled.overflow, step.clip};
}

struct SgdArguments : UpdateTensors {
  float* velocity;  ///< null: no momentum
  const SgdCoefficients* step;
  const float* trust;  ///< device address, or null: factor of the gradient and of the weight decay
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
