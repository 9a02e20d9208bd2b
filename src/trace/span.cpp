#include "trace/span.h"

#include <array>

namespace tandem {
namespace {

constexpr std::array<std::string_view, 10> names{"step",     "input",        "host to device", "forward", "loss",
                                                 "backward", "graph launch", "exchange",       "update",  "wait"};

}  // namespace

std::string_view nameOf(SpanKind kind) { return names.at(static_cast<size_t>(kind)); }

SpanRecorder::SpanRecorder(size_t capacity) : spans_(capacity), arrivals_(capacity) {}

void SpanRecorder::clear() { count_ = arrivalCount_ = lost_ = 0; }

void SpanRecorder::arrive(int64_t bytes) noexcept {
  if (arrivalCount_ == arrivals_.size()) {
    ++lost_;
    return;
  }
  arrivals_[arrivalCount_++] = {bytes, now()};
}

size_t SpanRecorder::open(SpanKind kind) noexcept {
  const int depth = depth_++;
  if (count_ == spans_.size()) {
    ++lost_;
    return none;
  }
  spans_[count_] = {kind, depth, now(), {}};
  return count_++;
}

void SpanRecorder::close(size_t index) noexcept {
  --depth_;
  if (index != none) spans_[index].end = now();
}

}  // namespace tandem
