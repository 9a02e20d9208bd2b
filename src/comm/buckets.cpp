#include "comm/buckets.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace tandem {
namespace {

struct Planned {
  Slice slice;
  int lastParameter;
};

// Buckets of one segment. Each reaches to the begin of the next, so together they cover the padding too.
std::vector<Planned> planSegment(const FlatBuffers& buffers, int segment, BucketSize size) {
  const Slice whole = buffers.whole(segment);
  const int64_t elementBytes = buffers.gradient(whole).element_size();
  std::vector<Planned> planned;
  for (const int parameter : buffers.parametersIn(whole)) {
    const Slice slice = buffers.slice(parameter);
    const int64_t most = planned.size() == 1 && size.first > 0 ? size.first : size.bytes;
    const bool fits = !planned.empty() && (slice.end - planned.back().slice.begin) * elementBytes <= most;
    if (!fits) {
      if (!planned.empty()) planned.back().slice.end = slice.begin;
      planned.push_back({{segment, slice.begin, whole.end}, parameter});
    }
    planned.back().lastParameter = parameter;
  }
  return planned;
}

}  // namespace

std::vector<Slice> planBuckets(const FlatBuffers& buffers, BucketSize size) {
  check(size.bytes > 0 && size.first >= 0, "a bucket holds at least one byte");
  std::vector<Planned> planned;
  for (int segment = 0; segment < buffers.segments(); ++segment) {
    const auto ofSegment = planSegment(buffers, segment, size);
    planned.insert(planned.end(), ofSegment.begin(), ofSegment.end());
  }
  std::sort(planned.begin(), planned.end(),
            [](const Planned& a, const Planned& b) { return a.lastParameter < b.lastParameter; });
  std::vector<Slice> buckets;
  for (const Planned& bucket : planned) buckets.push_back(bucket.slice);
  return buckets;
}

BucketTracker::BucketTracker(const FlatBuffers& buffers, std::vector<Slice> buckets) : buckets_(std::move(buckets)) {
  for (const Slice& bucket : buckets_) {
    int64_t elements = 0;
    for (const int parameter : buffers.parametersIn(bucket)) elements += buffers.slice(parameter).count();
    elements_.push_back(elements);
  }
  reset();
}

// Buckets start strictly in order, so a bucket that fills early waits. Replicas may fill buckets in different orders;
// if they started them so, their collectives would wait for each other forever.
int64_t BucketTracker::note(Slice gradient) {
  for (size_t i = 0; i < buckets_.size(); ++i) {
    const Slice& bucket = buckets_[i];
    if (bucket.segment != gradient.segment) continue;
    const int64_t overlap = std::min(bucket.end, gradient.end) - std::max(bucket.begin, gradient.begin);
    if (overlap > 0) missing_[i] -= overlap;
    check(missing_[i] >= 0, "each gradient is reported once per step");
  }
  const auto count = static_cast<int64_t>(buckets_.size());
  while (startable_ < count && missing_[startable_] == 0) ++startable_;
  return startable_;
}

void BucketTracker::reset() {
  missing_ = elements_;
  startable_ = 0;
}

}  // namespace tandem
