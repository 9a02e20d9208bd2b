#pragma once

#include <math.h>

#include <cstdint>

#include "kernels/optimizer/scaled_loss.h"
#include "kernels/optimizer/update_kernel.h"

namespace tandem {

/// The per-element form of AdamHyperparameters:
///   g = scale * gradient + decay * w;  m = beta1 * m + gain1 * g;  v = beta2 * v + gain2 * g * g
///   w = keep * w - rate * m / (spread * sqrt(v) + epsilon)
struct AdamCoefficients {
  float decay, keep, beta1, gain1, beta2, gain2, epsilon, scale, rate, spread;
  const float* overflow;  ///< device address, or null; not 0: update nothing
  const float* clip;      ///< device address, or null: factor of gradients
};

/// One step of Adam, PyTorch's rule (Kingma and Ba 2014; decoupled: Loshchilov and Hutter 2017):
///   g = scale * gradient [/ scale of the loss];  decoupled: w -= rate * weightDecay * w, else: g += weightDecay * w
///   m = beta1 * m + (1 - beta1) * g;  v = beta2 * v + (1 - beta2) * g^2
///   w -= rate * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon)
struct AdamHyperparameters {
  using Coefficients = AdamCoefficients;
  double rate = 0, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weightDecay = 0, scale = 1;
  int64_t number = 1;  ///< from 1; t = number - skipped steps, because the moments hold t gradients
  bool decoupled = false;
  ScaledLoss scaled = {};
  const float* clip = nullptr;  ///< device address, or null: one more factor of gradients, which updates read
};

/// Runs on the device that holds `scaled`. A running mean that starts at zero lacks the factor 1 - beta^t.
TANDEM_THREAD AdamCoefficients coefficientsOf(const AdamHyperparameters& s) {
  const double t = static_cast<double>(s.number) - (s.scaled.skipped != nullptr ? *s.scaled.skipped : 0);
  const double lossScale = lossScaleOf(s.scaled);
  return {static_cast<float>(s.decoupled ? 0 : s.weightDecay),
          static_cast<float>(s.decoupled ? 1 - s.rate * s.weightDecay : 1),
          static_cast<float>(s.beta1),
          static_cast<float>(1 - s.beta1),
          static_cast<float>(s.beta2),
          static_cast<float>(1 - s.beta2),
          static_cast<float>(s.epsilon),
          static_cast<float>(s.scale / lossScale),
          static_cast<float>(s.rate / (1 - pow(s.beta1, t))),
          static_cast<float>(1 / sqrt(1 - pow(s.beta2, t))),
          s.scaled.overflow,
          s.clip};
}

struct AdamArguments : UpdateTensors {
  float *mean, *square;
  const AdamCoefficients* step;
};

namespace cpu {
/// Elements [first, last).
void adamUpdate(const AdamArguments& arguments, int64_t first, int64_t last);
/// LAMB's direction: updates the moments by the gradient without decay, and writes
///   rate * m / (spread * sqrt(v) + epsilon) + decay * w
void lambDirection(const AdamArguments& arguments, float* direction, int64_t first, int64_t last);
}  // namespace cpu

namespace gpu {
/// *there = coefficientsOf(step)
void prepare(AdamCoefficients* there, const AdamHyperparameters& step, void* stream);
void adamUpdate(const AdamArguments& arguments, int64_t count, void* stream);
void lambDirection(const AdamArguments& arguments, float* direction, int64_t count, void* stream);
}  // namespace gpu

}  // namespace tandem
