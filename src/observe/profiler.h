#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "measure/record/record.h"
#include "trace/span.h"

namespace tandem {

/// Splits the steps of a run into parts. Only a replica's thread touches that replica's data until all replicas have
/// ended; fill() and writeTrace() come after that. Memory is bounded, and allocated at construction except for a step's
/// arrivals.
class Profiler {
 public:
  /// `keepSpans`: keeps spans for writeTrace().
  Profiler(int replicas, bool keepSpans);

  /// The recorder for the replica's thread.
  SpanRecorder& recorder(int replica) { return recordings_[static_cast<size_t>(replica)].recorder; }
  /// Takes everything recorded since the last call as step `step` of the window, from 0.
  void stepDone(int replica, int64_t step);
  /// Called by one replica for all.
  void setBytes(int64_t input, int64_t gradients);

  void fill(RunRecord& record) const;
  /// Writes a trace. It has a track per replica with the spans of the steps that fit, the record's telemetry, and a
  /// track per stream of the devices. A stream that does two things at once gets another track. Throws StorageError.
  void writeTrace(const std::string& path, const RunRecord& record,
                  std::span<const DeviceActivity> activities = {}) const;

 private:
  struct alignas(64) Recording {  // of one replica, on cache lines of its own
    Recording(size_t steps, size_t spans);
    SpanRecorder recorder;
    std::vector<StepParts> steps;        // each `every`-th step; `begin` and `arrival` are times of the clock
    std::vector<StepArrivals> arrivals;  // of the same steps; times of the clock
    std::vector<RecordedSpan> spans;     // spans of the first steps, one step after the other
    std::vector<int64_t> spanSteps;      // numbers of these steps
    int64_t every = 1, lost = 0;
    bool full = false;
  };
  void keep(Recording& recording, const StepParts& step) const;
  Nanos origin() const;

  std::vector<Recording> recordings_;
  int64_t inputBytes_ = 0, gradientBytes_ = 0;
};

}  // namespace tandem
