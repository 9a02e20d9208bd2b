#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "device/batch.h"
#include "kernels/tensor/normalize.h"

namespace tandem {

/// One replica's share of a global batch, on the host.
struct HostBatch {
  at::Tensor images;  ///< [N, H, W, 3] uint8; or, normalised already, [N, H, W, 3] or [N, 3, H, W] of a floating type
  at::Tensor labels;  ///< [N, ...] in the form that the network's loss reads
};

/// A replica's batches on the host. Thread-safe.
class HostBatches {
 public:
  virtual ~HostBatches() = default;

  /// Batch k, in tensors of its own or in those of `out`. `out`: undefined, or what an earlier call gave; its images
  /// are read no more, its labels may be. `memory`: Device::hostMemory() of the device that will read it. Throws
  /// DataError.
  virtual void make(int64_t k, const at::TensorOptions& memory, HostBatch& out) const = 0;

  /// Ends the waits of make(), now and later. Any thread may call it.
  virtual void stop() const {}

  virtual const Normalization& normalization() const = 0;  ///< of images of bytes
  virtual BatchOrigin origin() const = 0;
};

}  // namespace tandem
