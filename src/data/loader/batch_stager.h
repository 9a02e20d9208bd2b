#pragma once

#include "data/loader/batch_source.h"

namespace tandem {

/// Copies images to form.device, and normalises bytes there, on the calling thread's current stream. `index`, `ready`
/// and `origin` of the result are empty.
Batch staged(const HostBatch& host, const Normalization& normalization, const InputForm& form);

/// Makes batches and stages them to the device. Keeps its host memory between batches, so each thread has its own
/// object.
class Staging {
 public:
  explicit Staging(const SourceOptions& options);
  /// This replica's share of global batch k; its `ready` is empty.
  Batch make(int64_t k);

 private:
  SourceOptions options_;
  HostBatch host_;
  std::shared_ptr<const BatchOrigin> origin_;
};

std::unique_ptr<BatchSource> makeDeviceSource(const SourceOptions& options);
std::unique_ptr<BatchSource> makeHostSource(const SourceOptions& options);
std::unique_ptr<BatchSource> makeQueueSource(const SourceOptions& options);

}  // namespace tandem
