#pragma once

#include <cstdint>

#include "kernels/optimizer/scaled_loss.h"
#include "kernels/optimizer/update_kernel.h"

namespace tandem {

/// The per-element form of RmspropHyperparameters:
///   g = scale * gradient + weightDecay * w;  v = decay * v + gain * g * g;  d = g / (sqrt(v) + epsilon)
struct RmspropCoefficients {
  float rate, decay, gain, epsilon, momentum, weightDecay, scale;
  const float* overflow;  ///< device address, or null; not 0: update nothing
  const float* clip;      ///< device address, or null: factor of gradients
};

/// One step of RMSprop (Tieleman and Hinton 2012) by the rule of torch.optim.RMSprop, which adds epsilon behind the
/// root. TensorFlow adds it below.
///   g = scale * gradient [/ scale of the loss] + weightDecay * w;  v = decay * v + (1 - decay) * g^2
///   d = g / (sqrt(v) + epsilon);  with momentum: b = momentum * b + d, w -= rate * b;  else: w -= rate * d
struct RmspropHyperparameters {
  using Coefficients = RmspropCoefficients;
  double rate = 0, decay = 0.9, epsilon = 1e-8, momentum = 0, weightDecay = 0, scale = 1;
  ScaledLoss scaled = {};
  const float* clip = nullptr;  ///< device address, or null: one more factor of gradients, which updates read
};

/// Runs on the device that holds `scaled`.
TANDEM_THREAD RmspropCoefficients coefficientsOf(const RmspropHyperparameters& s) {
  return {static_cast<float>(s.rate),
          static_cast<float>(s.decay),
          static_cast<float>(1 - s.decay),
          static_cast<float>(s.epsilon),
          static_cast<float>(s.momentum),
          static_cast<float>(s.weightDecay),
          static_cast<float>(s.scale / lossScaleOf(s.scaled)),
          s.scaled.overflow,
          s.clip};
}

struct RmspropArguments : UpdateTensors {
  float* square;
  float* velocity;  ///< null: no momentum
  const RmspropCoefficients* step;
};

namespace cpu {
/// Elements [first, last).
void rmspropUpdate(const RmspropArguments& arguments, int64_t first, int64_t last);
}  // namespace cpu

namespace gpu {
/// *there = coefficientsOf(step)
void prepare(RmspropCoefficients* there, const RmspropHyperparameters& step, void* stream);
void rmspropUpdate(const RmspropArguments& arguments, int64_t count, void* stream);
}  // namespace gpu

}  // namespace tandem
