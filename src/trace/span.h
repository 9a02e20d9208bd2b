#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "trace/flight_recorder.h"
#include "trace/span_kind.h"

namespace tandem {

struct RecordedSpan {
  SpanKind kind = SpanKind::step;
  int depth = 0;  ///< number of spans that are open around it
  Nanos begin{}, end{};
};

/// A time at which gradients are handed over to other replicas.
struct Arrival {
  int64_t bytes = 0;
  Nanos at{};
};

/// Records the spans and arrivals of one thread, in the order of their begins. All memory is allocated at construction,
/// because recording must not disturb the step.
class SpanRecorder {
 public:
  explicit SpanRecorder(size_t capacity);

  std::span<const RecordedSpan> spans() const { return {spans_.data(), count_}; }
  std::span<const Arrival> arrivals() const { return {arrivals_.data(), arrivalCount_}; }
  /// Number of spans and arrivals since clear() that did not fit.
  size_t lost() const { return lost_; }
  void clear();
  void arrive(int64_t bytes) noexcept;

 private:
  friend class Span;
  static constexpr size_t none = SIZE_MAX;
  size_t open(SpanKind kind) noexcept;
  void close(size_t index) noexcept;

  std::vector<RecordedSpan> spans_;
  std::vector<Arrival> arrivals_;
  size_t count_ = 0, arrivalCount_ = 0, lost_ = 0;
  int depth_ = 0;
};

/// Recorder of this thread's spans. Null: nothing is recorded, and a span costs a load and a branch.
inline thread_local constinit SpanRecorder* threadRecorder = nullptr;

/// Records that this thread's replica hands over `bytes` of gradients.
inline void recordGradientHandoff(int64_t bytes) noexcept {
  if (threadRecorder != nullptr) threadRecorder->arrive(bytes);
}

/// Records the calling thread's spans while it lives.
class SpanRecording {
 public:
  explicit SpanRecording(SpanRecorder* recorder) noexcept { threadRecorder = recorder; }
  ~SpanRecording() { threadRecorder = nullptr; }
  SpanRecording(const SpanRecording&) = delete;
  SpanRecording& operator=(const SpanRecording&) = delete;
};

/// One span, from construction to destruction. Where the thread keeps a flight log, its parent can read which is open.
class Span {
 public:
  /// Throws where --inject puts an exception at spans of this kind.
  explicit Span(SpanKind kind) : recorder_(threadRecorder), flight_(threadFlight) {
    if (flight_ != nullptr) around_ = flight_->enter(kind);
    if (recorder_ != nullptr) index_ = recorder_->open(kind);
  }
  ~Span() {
    if (recorder_ != nullptr) recorder_->close(index_);
    if (flight_ != nullptr) flight_->leave(around_);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  SpanRecorder* recorder_;
  FlightLog* flight_;
  size_t index_ = 0;
  uint8_t around_ = 0;
};

}  // namespace tandem
