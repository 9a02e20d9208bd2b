#pragma once

#include <cstdint>

#include "kernels/scaled_loss.h"

namespace tandem {

/// Coefficients of one Adam update, PyTorch's rule (Kingma and Ba 2014; decoupled: Loshchilov and Hutter 2017):
///   g = scale * gradient [/ scale of the loss];  decoupled: w -= rate * weightDecay * w, else: g += weightDecay * w
///   m = beta1 * m + (1 - beta1) * g;  v = beta2 * v + (1 - beta2) * g^2
///   w -= rate * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon)
struct AdamStep {
  double rate = 0, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weightDecay = 0, scale = 1;
  int64_t number = 1;  ///< from 1; t is that less the steps that a scaled loss skipped: moments are of t gradients
  bool decoupled = false;
  ScaledLoss scaled = {};
};

}  // namespace tandem
