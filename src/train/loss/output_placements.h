#pragma once

#include "train/loss/loss.h"

namespace tandem {

/// Each replica computes the loss of its own outputs.
std::unique_ptr<OutputPlacement> makeOwnOutputs(const OutputPlacementOptions& options);

/// Replica 0 computes the loss of all replicas' outputs, as Keras' multi_gpu_model and PyTorch's DataParallel do.
std::unique_ptr<OutputPlacement> makeGatheredOutputs(const OutputPlacementOptions& options);

}  // namespace tandem
