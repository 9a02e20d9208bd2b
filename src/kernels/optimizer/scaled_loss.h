#pragma once

#include "kernels/gpu/host_testable_block.h"

namespace tandem {

/// What an optimizer reads of a loss scale (optim/loss_scale.h) when its work runs, in memory of its device; without
/// one all are null.
struct ScaledLoss {
  const float* scale = nullptr;     ///< the gradients are so many times too large
  const float* overflow = nullptr;  ///< not 0: one of them is not finite, and nothing is updated
  const double* skipped = nullptr;  ///< steps so far that updated nothing
};

TANDEM_THREAD float lossScaleOf(const ScaledLoss& loss) { return loss.scale != nullptr ? *loss.scale : 1; }

}  // namespace tandem
