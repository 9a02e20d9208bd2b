#include "strategy/pinned_gradients.h"

#include <ATen/ATen.h>
#include <c10/core/StreamGuard.h>

#include "base/error.h"
#include "trace/span.h"

namespace tandem {

PinnedGradients::PinnedGradients(const FlatBuffers& buffers, const Device& device, BucketSize buckets)
    : source_(buffers),
      device_(device),
      beside_(device.sideStream().value()),
      tracker_(buffers, planBuckets(buffers, buckets)) {
  for (int segment = 0; segment < buffers.segments(); ++segment) {
    const at::Tensor there = buffers.gradient(buffers.whole(segment));
    segments_.push_back(at::zeros({there.numel()}, device.hostMemory().dtype(there.scalar_type())));
  }
}

void PinnedGradients::note(Slice gradient, const Copied& copied) {
  const int64_t before = tracker_.startable(), startable = tracker_.note(gradient);
  for (int64_t i = before; i < startable; ++i) copied(tracker_.buckets()[i], copy(tracker_.buckets()[i]));
}

// The copy waits for the gradient on the side stream, so the computing stream continues with backward.
Event PinnedGradients::copy(Slice bucket) const {
  const Span copying(SpanKind::exchange);
  const Event complete = device_.record();
  const c10::StreamGuard beside(beside_);
  device_.wait(complete);
  gradient(bucket).copy_(source_.gradient(bucket), /*non_blocking=*/true);
  return device_.record();
}

void PinnedGradients::reset() {
  check(tracker_.startable() == static_cast<int64_t>(tracker_.buckets().size()),
        "every gradient was reported in the step");
  tracker_.reset();
}

at::Tensor PinnedGradients::gradient(Slice slice) const {
  return segments_.at(static_cast<size_t>(slice.segment)).narrow(0, slice.begin, slice.count());
}

}  // namespace tandem
