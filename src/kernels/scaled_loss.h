#pragma once

namespace tandem {

/// What an optimizer's kernel reads of a loss scale (optim/loss_scale.h) when it runs, in memory of its device; without
/// one all are null.
struct ScaledLoss {
  const float* scale = nullptr;     ///< the gradients are so many times too large
  const float* overflow = nullptr;  ///< not 0: one of them is not finite, and nothing is updated
  const double* skipped = nullptr;  ///< steps so far that updated nothing
};

}  // namespace tandem
