#pragma once

#include "run/plan/plan.h"

namespace tandem {

/// The least work of a step for any algorithm: the numerators of a roofline.
struct StepWork {
  double flopsPerImage = 0;  ///< trainingFlops(), or forwardFlops() with --forward-only
  /// Bytes between processors and memory, for all replicas together. 0: not known (--executor=autograd,
  /// --forward-only).
  ///
  /// Counts what caches cannot hold for a whole step. Activations are written in forward and read in backward. Each
  /// replica's gradients are written and read. Weights and optimizer state are read and written once. It is no lower
  /// bound if these are small enough for caches to hold a part of them.
  double bytesPerStep = 0;
};

StepWork stepWork(const RunPlan& plan);

}  // namespace tandem
