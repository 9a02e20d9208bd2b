#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/record/record.h"
#include "observe/op_timer.h"
#include "trace/span.h"

namespace tandem {

/// Splits the steps of a run into parts. Only a replica's thread touches that replica's data until all replicas have
/// ended; fill() and writeTrace() come after that. Memory is bounded, and allocated at construction except for a step's
/// arrivals.
class Profiler {
 public:
  static constexpr size_t mostSpans = 1 << 18;  ///< of a replica, in a trace

  /// `places`: where each replica is, as a trace shows it. `spans`: how many of each are kept for writeTrace().
  /// `works`: the operations of CPU replicas that are timed, by the numbers of OpScope; empty: none.
  explicit Profiler(std::vector<std::string> places, size_t spans = 0, std::vector<OpDemand> works = {});

  /// The recorder for the replica's thread.
  SpanRecorder& recorder(int replica) { return recordings_[static_cast<size_t>(replica)].recorder; }
  /// The timer for the replica's thread. Null: operations are not timed.
  OpTimer* operations(int replica) {
    return works_.empty() ? nullptr : &recordings_[static_cast<size_t>(replica)].operations;
  }
  /// Takes everything recorded since the last call as step `step` of the window, from 0.
  void stepDone(int replica, int64_t step);
  /// Called by one replica for all.
  void setBytes(int64_t input, int64_t gradients);

  /// All of that in bytes, for add() in another process of the same program.
  std::string packed() const;
  /// Adds the replicas of another process, behind those that are there. Its clock is `ahead` of this one's, by at most
  /// `error` more or less. Throws DataError if the bytes are not whole.
  void add(std::string_view packed, Nanos ahead, Nanos error);

  void fill(RunRecord& record) const;
  /// Writes a trace. It has a track per replica with the spans of the steps that fit, the record's telemetry, and a
  /// track per stream of the devices. A stream that does two things at once gets another track. Throws StorageError.
  void writeTrace(const std::string& path, const RunRecord& record,
                  std::span<const DeviceActivity> activities = {}) const;

 private:
  struct alignas(64) Recording {  // of one replica, on cache lines of its own
    Recording(std::string where, size_t steps, size_t spans, size_t operations);
    std::string place;
    SpanRecorder recorder;
    OpTimer operations;
    int64_t done = 0;                    // steps, kept or not
    Nanos wall{};                        // of all of them
    std::vector<StepParts> steps;        // each `every`-th step; `begin` and `arrival` are times of the clock
    std::vector<StepArrivals> arrivals;  // of the same steps; times of the clock
    std::vector<RecordedSpan> spans;     // spans of the first steps, one step after the other
    std::vector<int64_t> spanSteps;      // numbers of these steps
    int64_t every = 1, lost = 0;
    bool full = false;
  };
  void keep(Recording& recording, const StepParts& step) const;
  static void setBack(Recording& recording, Nanos ahead);
  Nanos origin() const;
  HostTimeline hostTimeline() const;

  std::vector<OpDemand> works_;
  std::vector<Recording> recordings_;
  int64_t inputBytes_ = 0, gradientBytes_ = 0;
  Nanos clockError_{};  // the largest of those added
};

}  // namespace tandem
