#pragma once

#include <cstdint>
#include <vector>

#include "device/flat_buffers.h"

namespace tandem {

/// The most bytes of gradients in a bucket.
struct BucketSize {
  int64_t bytes = 4 << 20;
  int64_t first = 0;  ///< the same of each segment's first bucket, by which the exchange begins; 0: as in the others
};

/// Cuts the segments into buckets of that size, at parameter borders. A larger gradient has a bucket of its own.
/// Buckets come in the order in which backward fills them, which is equal on all replicas. REQUIRES: bytes > 0.
std::vector<Slice> planBuckets(const FlatBuffers& buffers, BucketSize size);

/// Counts down the gradients of each bucket. Not thread-safe: one per replica.
class BucketTracker {
 public:
  BucketTracker(const FlatBuffers& buffers, std::vector<Slice> buckets);

  /// Notes a finished gradient. Returns how many buckets, from the first on, may be started now. Buckets start strictly
  /// in order, so every replica starts the same ones in the same order.
  int64_t note(Slice gradient);
  /// The last result of note().
  int64_t startable() const { return startable_; }
  void reset();
  const std::vector<Slice>& buckets() const { return buckets_; }

 private:
  std::vector<Slice> buckets_;
  std::vector<int64_t> elements_, missing_;  // elements of parameters, per bucket
  int64_t startable_ = 0;
};

}  // namespace tandem
