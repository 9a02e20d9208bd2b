#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include <functional>
#include <vector>

#include "comm/buckets.h"
#include "device/device.h"
#include "device/flat_buffers.h"

namespace tandem {

/// A copy of a replica's gradients in host memory, of the type they are exchanged in, for a thread that sums them
/// there.
///
/// It is made in whole buckets, on a stream beside the one that computes, and nobody waits for it: who reads a bucket
/// waits for its event first. note() and reset() on the replica's thread; gradient() on any.
class PinnedGradients {
 public:
  /// Keeps the gradients' memory alive. REQUIRES: a device with streams, which outlives this.
  PinnedGradients(const FlatBuffers& buffers, const Device& device, int64_t bucketBytes);

  /// Told of a bucket whose copy is enqueued, and where it ends.
  using Copied = std::function<void(Slice bucket, const Event& end)>;
  /// A gradient is complete where the device's current stream is now. Copies what buckets are complete with it.
  /// REQUIRES: nobody reads these buckets of the step before any more.
  void note(Slice gradient, const Copied& copied);
  /// The step ends. REQUIRES: every gradient was noted.
  void reset();

  at::Tensor gradient(Slice slice) const;  ///< [n] as exchanged, on the host

 private:
  Event copy(Slice bucket) const;

  const FlatBuffers source_;  // handles
  const Device& device_;
  const c10::Stream beside_;
  BucketTracker tracker_;
  std::vector<at::Tensor> segments_;
};

}  // namespace tandem
