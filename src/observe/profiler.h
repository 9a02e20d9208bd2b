#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "measure/record/record.h"
#include "trace/span.h"

namespace tandem {

/// Takes the steps of a run apart. What belongs to one replica is touched by its thread alone until the team has
/// ended; fill() and writeTrace() come after that. All memory that grows with the run is bounded; but for a step's
/// arrivals it is there from the start.
class Profiler {
 public:
  /// `keepSpans`: for writeTrace().
  Profiler(int replicas, bool keepSpans);

  /// Where the replica's thread records its spans.
  SpanRecorder& recorder(int replica) { return recordings_[static_cast<size_t>(replica)].recorder; }
  /// Takes what was recorded since the last call as step number `step` of the window, from 0.
  void stepDone(int replica, int64_t step);
  /// Of the one replica that says it for all.
  void setBytes(int64_t input, int64_t gradients);

  void fill(RunRecord& record) const;
  /// Tracks of replicas with the spans of each step, as many as there was room for, the record's telemetry, and what
  /// the streams of devices did: a track each, and another where a stream did two things at once. Throws StorageError.
  void writeTrace(const std::string& path, const RunRecord& record,
                  std::span<const DeviceActivity> activities = {}) const;

 private:
  struct alignas(64) Recording {  // of one replica
    Recording(size_t steps, size_t spans);
    SpanRecorder recorder;
    std::vector<StepParts> steps;        // each `every`-th, `begin` and `arrival` by the clock
    std::vector<StepArrivals> arrivals;  // of the same steps, by the clock
    std::vector<RecordedSpan> spans;     // of the first steps, one after the other
    std::vector<int64_t> spanSteps;      // number of the step that each of their steps is
    int64_t every = 1, lost = 0;
    bool full = false;
  };
  void keep(Recording& recording, const StepParts& step) const;
  Nanos origin() const;

  std::vector<Recording> recordings_;
  int64_t inputBytes_ = 0, gradientBytes_ = 0;
};

}  // namespace tandem
