#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace tandem {

/// What a replica's thread does in a step. Spans nest: an update in the middle of backward, a sum within a wait.
enum class SpanKind : uint8_t {
  step,
  input,         ///< until the batch is there
  hostToDevice,  ///< copies of the batch to a GPU
  forward,
  loss,
  backward,
  launch,    ///< of recorded work, with the host's calls within it nested
  exchange,  ///< handing gradients over, summing, fetching weights
  update,
  wait  ///< for other replicas; what is done meanwhile is nested
};

/// "step", "input", "host to device", ...
std::string_view nameOf(SpanKind kind);

struct RecordedSpan {
  SpanKind kind = SpanKind::step;
  int depth = 0;  ///< how many spans are open around it
  Nanos begin{}, end{};
};

/// A moment at which gradients are handed over to other replicas.
struct Arrival {
  int64_t bytes = 0;
  Nanos at{};
};

/// Keeps the spans and arrivals of one thread, in the order of their begins, in memory that is there from the start.
class SpanRecorder {
 public:
  explicit SpanRecorder(size_t capacity);

  std::span<const RecordedSpan> spans() const { return {spans_.data(), count_}; }
  std::span<const Arrival> arrivals() const { return {arrivals_.data(), arrivalCount_}; }
  /// Spans and arrivals that found no room since clear().
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

/// Where spans of this thread go; null: they are not recorded and cost a load and a branch.
inline thread_local constinit SpanRecorder* threadRecorder = nullptr;

/// Records that this thread's replica hands `bytes` of gradients over.
inline void recordGradientHandoff(int64_t bytes) noexcept {
  if (threadRecorder != nullptr) threadRecorder->arrive(bytes);
}

/// Records the calling thread's spans as long as it lives.
class SpanRecording {
 public:
  explicit SpanRecording(SpanRecorder* recorder) noexcept { threadRecorder = recorder; }
  ~SpanRecording() { threadRecorder = nullptr; }
  SpanRecording(const SpanRecording&) = delete;
  SpanRecording& operator=(const SpanRecording&) = delete;
};

/// One span, from construction to destruction.
class Span {
 public:
  explicit Span(SpanKind kind) noexcept : recorder_(threadRecorder) {
    if (recorder_ != nullptr) index_ = recorder_->open(kind);
  }
  ~Span() {
    if (recorder_ != nullptr) recorder_->close(index_);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  SpanRecorder* recorder_;
  size_t index_ = 0;
};

}  // namespace tandem
