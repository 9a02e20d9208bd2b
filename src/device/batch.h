#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"

namespace tandem {

/// Where the images of a batch come from.
struct BatchOrigin {
  std::string data;     ///< name of the data set
  std::string augment;  ///< name or text of the chain that changed them; empty: nothing did
  /// By which they were normalised, of each channel, in bytes from 0 to 255.
  std::vector<double> mean = {}, deviation = {};
};

/// What one replica trains on in one step.
struct Batch {
  at::Tensor images;  ///< [N, C, H, W] normalised, in the run's precision and layout, on the replica's device;
                      ///< where the plan asks for it channels of zeros follow the image's own
  at::Tensor labels;  ///< [N, ...] as the network's loss reads them, on the replica's device
  int64_t index = 0;  ///< number of the global batch
  Event ready;        ///< the device must wait for this before it reads the tensors
  std::shared_ptr<const BatchOrigin> origin = {};  ///< null: not known
};

}  // namespace tandem
