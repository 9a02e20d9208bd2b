#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "comm/buckets.h"

namespace tandem {

/// Finished gradients, put off until a bucket is full, where each telling is a call of the host amid recorded work and
/// cuts it; or until backward has ended (--overlap=off). Not for several threads at once.
class DeferredGradients {
 public:
  /// `buckets`: of planBuckets(); none: gradients are put off until backward has ended.
  DeferredGradients(const FlatBuffers& buffers, std::vector<Slice> buckets) : tracker_(buffers, std::move(buckets)) {}

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
