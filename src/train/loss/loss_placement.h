#pragma once

#include "train/loss/loss.h"

namespace tandem {

/// The rows of lossPlacements().
std::unique_ptr<LossPlacement> makeReplicaLoss(const LossPlacementOptions& options);
std::unique_ptr<LossPlacement> makeGatheredLoss(const LossPlacementOptions& options);

}  // namespace tandem
