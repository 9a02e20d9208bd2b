#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "comm/buckets.h"

namespace tandem {

/// Collects finished gradients until a bucket is full, or until backward has ended (--overlap=off). Full buckets are
/// used with CUDA graphs: each notification of the strategy is then a host call, which splits the graph. Not
/// thread-safe: one per replica.
class DeferredGradients {
 public:
  /// `buckets`: from planBuckets(). Empty: gradients are collected until backward has ended.
  DeferredGradients(const FlatBuffers& buffers, std::vector<Slice> buckets) : tracker_(buffers, std::move(buckets)) {}

  /// Notes gradients that became ready together. True if more buckets can start than before, but not all of the step's.
  bool note(std::span<const Slice> slices);
  /// Returns the gradients noted since the previous take().
  std::vector<Slice> take();
  /// Returns the gradients noted after the step's last take(). A launched CUDA graph notes nothing, so the result stays
  /// valid for it: that of the last step that noted gradients.
  const std::vector<Slice>& rest();

 private:
  BucketTracker tracker_;
  std::vector<Slice> ready_, rest_;
};

}  // namespace tandem
