#pragma once

#include "kernels/gpu/host_testable_block.h"

namespace tandem {

/// What an optimizer kernel reads of a loss scale (optim/loss_scale.h) when it runs: device addresses, all null without
/// loss scaling.
struct ScaledLoss {
  const float* scale = nullptr;     ///< the factor by which gradients are too large
  const float* overflow = nullptr;  ///< not 0: a gradient is not finite, and nothing is updated
  const double* skipped = nullptr;  ///< steps so far that updated nothing
};

TANDEM_THREAD float lossScaleOf(const ScaledLoss& loss) { return loss.scale != nullptr ? *loss.scale : 1; }

/// What lies at a device address; null: 1.
TANDEM_THREAD float factorAt(const float* there) { return there != nullptr ? *there : 1; }

}  // namespace tandem
