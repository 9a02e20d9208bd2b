#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "device/device.h"

namespace tandem {

/// What one replica trains on in one step.
struct Batch {
  at::Tensor images;         ///< [N, C, H, W] normalised, in the run's precision and layout, on the replica's device;
                             ///< where the plan asks for it channels of zeros follow the image's own
  at::Tensor labels;         ///< [N, ...] as the network's loss reads them, on the replica's device
  int64_t index = 0;         ///< number of the global batch
  Event ready;               ///< the device must wait for this before it reads the tensors
  std::string data = {};     ///< name of the data set that the images are of
  std::string augment = {};  ///< row of augments() that changed them; empty: nothing did
};

}  // namespace tandem
