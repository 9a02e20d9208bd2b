#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include <functional>
#include <vector>

#include "comm/buckets.h"
#include "device/device.h"
#include "device/flat_buffers.h"

namespace tandem {

/// A copy of a replica's gradients in pinned host memory, in the type of the exchange, for the thread that sums there.
///
/// Whole buckets are copied on a stream beside the computing one, and nobody waits for it. A reader of a bucket first
/// waits for the bucket's event. note() and reset() run on the replica's thread; gradient() on any.
class PinnedGradients {
 public:
  /// Keeps the gradients' memory alive. REQUIRES: a device with streams that outlives this object.
  PinnedGradients(const FlatBuffers& buffers, const Device& device, BucketSize buckets);

  /// Called with a bucket whose copy is enqueued; `end`: the copy is done.
  using Copied = std::function<void(Slice bucket, const Event& end)>;
  /// Notes a gradient that is complete at this point of the device's current stream, and copies the buckets that it
  /// completes. REQUIRES: nobody reads these buckets' values of the step before any more.
  void note(Slice gradient, const Copied& copied);
  /// Ends the step. REQUIRES: every gradient was noted.
  void reset();

  at::Tensor gradient(Slice slice) const;  ///< [n] in the type of the exchange, on the host

 private:
  Event copy(Slice bucket) const;

  const FlatBuffers source_;  // a copy of the handles
  const Device& device_;
  const c10::Stream beside_;
  BucketTracker tracker_;
  std::vector<at::Tensor> segments_;
};

}  // namespace tandem
