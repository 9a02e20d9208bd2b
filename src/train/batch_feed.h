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
  std::vector<int64_t> shares = {};  ///< images of each replica; empty: all have as many
};

/// Delivers each replica's batch. Collective: every replica calls fetch() on its own thread, once per step.
class BatchFeed {
 public:
  virtual ~BatchFeed() = default;
  /// Whether fetch() of replica `index` needs a source.
  virtual bool needsSource(int index) const = 0;
  /// Writes this replica's batch to `out`, on its device, which waits until the batch is ready. `source` may be null if
  /// needsSource() is false. Throws what the source throws, and PeerError if another replica has failed.
  virtual void fetch(int index, BatchSource* source, Batch& out) = 0;
};

/// Each replica reads its own source.
std::unique_ptr<BatchFeed> makeOwnFeed(const BatchFeedOptions& options);

/// Replica 0 reads the global batch. Each replica takes its slice of it: a copy on another device, else a view.
std::unique_ptr<BatchFeed> makeScatteredFeed(const BatchFeedOptions& options);

}  // namespace tandem
