#pragma once

#include "kernels/scaled_loss.h"

namespace tandem {

/// Coefficients of one SGD update, PyTorch's rule, where the gradient of a scaled loss is divided by its scale first:
///   g = scale * gradient + weightDecay * w;  v = momentum * v + g;  w -= rate * (nesterov ? g + momentum * v : v)
struct SgdStep {
  float rate = 0, momentum = 0, weightDecay = 0, scale = 1;
  bool nesterov = false;
  ScaledLoss scaled = {};
};

}  // namespace tandem
