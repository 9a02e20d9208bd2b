#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/buckets.h"

namespace tandem {

/// Finished gradients, put off until a bucket of planBuckets() is full: where each telling is a call of the host amid
/// recorded work, and cuts it. For one thread.
class ReadyGradients {
 public:
  ReadyGradients(const FlatBuffers& buffers, int64_t bucketBytes)
      : tracker_(buffers, planBuckets(buffers, bucketBytes)) {}

  /// Notes gradients that are ready at once. True when with them a bucket may be started and more are to come in this
  /// step.
  bool note(std::span<const Slice> slices);
  /// What was noted since the last take().
  std::vector<Slice> take();
  /// What was noted after the step's last take(). It stays so until a step has noted gradients again: a step that is
  /// launched has the same.
  const std::vector<Slice>& rest();

 private:
  BucketTracker tracker_;
  std::vector<Slice> ready_, rest_;
};

}  // namespace tandem
