#pragma once

#include <memory>
#include <vector>

#include "data/loader/batch_source.h"
#include "device/batch.h"
#include "device/device.h"
#include "device/monitor.h"

namespace tandem {

struct BatchFeedOptions {
  std::vector<const Device*> devices;  ///< one per replica
  Monitor* monitor = nullptr;
};

/// How replicas come by their batches. Collective: each replica calls fetch() on its thread, once a step.
class BatchFeed {
 public:
  virtual ~BatchFeed() = default;
  /// Whether replica `index` reads from a source.
  virtual bool needsSource(int index) const = 0;
  /// This replica's batch, on its device, which has been told to wait for it. `source` is null where none is needed.
  virtual void fetch(int index, BatchSource* source, Batch& out) = 0;
};

/// Each replica reads batches of its own.
std::unique_ptr<BatchFeed> makeOwnFeed(const BatchFeedOptions& options);

/// Replica 0 reads one batch for all; the others copy their equal slices of it to their devices.
std::unique_ptr<BatchFeed> makeScatteredFeed(const BatchFeedOptions& options);

}  // namespace tandem
