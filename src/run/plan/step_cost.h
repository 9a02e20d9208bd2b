#pragma once

#include "run/plan/plan.h"

namespace tandem {

/// What a step does at the least, whatever algorithm does it: the numerators of a roofline.
struct StepWork {
  double flopsPerImage = 0;  ///< by the definition: forward, and in training what trainingFlops() counts
  /// Between processors and memory, of all replicas together; 0 where activations are not known (--executor=autograd,
  /// --forward-only). Counted is what no cache can hold from one end of a step to the other: activations written in
  /// forward and read in backward, each replica's gradient written and read, weights and optimizer state read and
  /// written once. Of what is small beside the caches, they keep a part: then it is no lower bound.
  double bytesPerStep = 0;
};

StepWork stepWork(const RunPlan& plan);

}  // namespace tandem
