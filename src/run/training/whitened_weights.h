#pragma once

#include "run/plan/replica_set_options.h"
#include "train/whitening.h"

namespace tandem {

/// Weights of the network's whitening convolutions, made from the first 5,000 training images as an evaluation reads
/// them. Those of rank 0 are taken by all ranks. Images that cannot be read are left out, as far as the plan bears
/// them. Empty: the network has none. Throws as openDataset() and whiteningNodes(). Collective.
WhiteningWeights whitenedWeights(const RunPlan& plan, const TrainingData& data);

}  // namespace tandem
