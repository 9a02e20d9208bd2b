#pragma once

#include <cstdint>
#include <vector>

#include "device/flat_buffers.h"

namespace tandem {

/// Cuts the segments into buckets of at most `bucketBytes` of gradients at parameter borders; a larger gradient
/// travels alone. In the order in which they fill during backward, the same on every replica.
std::vector<Slice> planBuckets(const FlatBuffers& buffers, int64_t bucketBytes);

/// Counts down the gradients of each bucket. Not thread-safe: one per replica.
class BucketTracker {
 public:
  BucketTracker(const FlatBuffers& buffers, std::vector<Slice> buckets);

  /// Notes a finished gradient; returns how many buckets, from the first on, may now be started: they start strictly in
  /// order, so that every replica starts the same ones in the same order.
  int64_t note(Slice gradient);
  /// As note() returned last.
  int64_t startable() const { return startable_; }
  void reset();
  const std::vector<Slice>& buckets() const { return buckets_; }

 private:
  std::vector<Slice> buckets_;
  std::vector<int64_t> elements_, missing_;  // parameter elements per bucket
  int64_t startable_ = 0;
};

}  // namespace tandem
