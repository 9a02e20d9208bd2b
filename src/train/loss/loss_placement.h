#pragma once

#include "train/loss/loss.h"

namespace tandem {

/// The rows of lossPlaces().
std::unique_ptr<LossPlace> makeReplicaLoss(const LossPlaceOptions& options);
std::unique_ptr<LossPlace> makeGatheredLoss(const LossPlaceOptions& options);

}  // namespace tandem
