#include "train/deferred_gradients.h"

namespace tandem {

bool DeferredGradients::note(std::span<const Slice> slices) {
  const int64_t before = tracker_.startable();
  for (const Slice slice : slices) tracker_.note(slice);
  ready_.insert(ready_.end(), slices.begin(), slices.end());
  return tracker_.startable() > before && tracker_.startable() < std::ssize(tracker_.buckets());
}

std::vector<Slice> DeferredGradients::take() { return std::exchange(ready_, {}); }

const std::vector<Slice>& DeferredGradients::rest() {
  if (!ready_.empty()) {
    rest_ = take();
    tracker_.reset();
  }
  return rest_;
}

}  // namespace tandem
