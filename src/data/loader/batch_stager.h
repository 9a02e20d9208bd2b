#pragma once

#include "data/loader/batch_source.h"

namespace tandem {

/// Makes batches and brings them to the device: bytes on the CPU, copied, normalised there on the calling thread's
/// current stream. Keeps its host memory between batches, so each thread has its own.
class Staging {
 public:
  explicit Staging(const SourceOptions& options) : options_(options) {}
  /// The global batch k's share; its `ready` is empty.
  Batch make(int64_t k);

 private:
  const HostBatch& makeOnHost(int64_t k);

  SourceOptions options_;
  HostBatch host_;
};

std::unique_ptr<BatchSource> makeDeviceSource(const SourceOptions& options);
std::unique_ptr<BatchSource> makeHostSource(const SourceOptions& options);
std::unique_ptr<BatchSource> makeQueueSource(const SourceOptions& options);

}  // namespace tandem
