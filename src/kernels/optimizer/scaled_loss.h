#pragma once

#include "kernels/gpu/host_testable_block.h"

namespace tandem {

/// What an optimizer kernel reads of a loss scale (optim/loss_scale.h) when it runs: device addresses, all null without
/// loss scaling.
struct ScaledLoss {                 ///< the factor by which gradients are too large
  const float* scale = nullptr;     ///< not 0: a gradient is not finite, and nothing is updated
  const float* overflow = nullptr;  ///< number of steps so far that updated nothing
  const double* skipped = nullptr;  ///< steps so far that updated nothing
};

TANDEM_THREAD float lossScaleOf(const ScaledLoss& loss) { return loss.scale != nullptr ? *loss.scale : 1; }

}  // namespace tandem
