#pragma once

#include "kernels/optimizer/scaled_loss.h"

namespace tandem {

/// The per-element form of SgdHyperparameters.
struct SgdCoefficients {
  float rate, momentum, weightDecay, scale;
  bool nesterov;
  const float* overflow;  ///< device address, or null; not 0: update nothing
};

/// One step of SGD by PyTorch's rule. The gradient of a scaled loss is divided by its scale first.
///   g = scale * gradient + weightDecay * w;  v = momentum * v + g;  w -= rate * (nesterov ? g + momentum * v : v)
struct SgdHyperparameters {
  using Coefficients = SgdCoefficients;
  float rate = 0, momentum = 0, weightDecay = 0, scale = 1;
  bool nesterov = false;
  ScaledLoss scaled = {};
};

/// Runs on the device that holds `scaled`.
TANDEM_THREAD SgdCoefficients coefficientsOf(const SgdHyperparameters& step) {
  const float scale = step.scale / lossScaleOf(step.scaled);
  return {step.rate, step.momentum, step.weightDecay, scale, step.nesterov, step.scaled.overflow};
}

}  // namespace tandem
