#pragma once

#include "run/plan/replica_set_options.h"
#include "train/whitening.h"

namespace tandem {

/// Weights of the network's whitening convolutions, made from the first 5,000 training images as an evaluation reads
/// them. Of one that cannot be read becomes what does in training. Empty: the network has none. Throws as BatchMaker
/// and whiteningNodes().
WhiteningWeights whitenedWeights(const RunPlan& plan, const TrainingData& data);

}  // namespace tandem
