#pragma once

#include <cstdint>

namespace tandem {

/// Coefficients of one Adam update, PyTorch's rule (Kingma and Ba 2014; decoupled: Loshchilov and Hutter 2017):
///   g = scale * gradient;  decoupled: w -= rate * weightDecay * w, else: g += weightDecay * w
///   m = beta1 * m + (1 - beta1) * g;  v = beta2 * v + (1 - beta2) * g^2
///   w -= rate * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon)
struct AdamStep {
  double rate = 0, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weightDecay = 0, scale = 1;
  int64_t number = 1;  ///< t, from 1
  bool decoupled = false;
};

}  // namespace tandem
