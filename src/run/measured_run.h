#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "measure/record/record.h"
#include "observe/device_tracer.h"
#include "observe/profiler.h"
#include "observe/run_observer.h"
#include "run/run_point.h"
#include "train/replica_set.h"

namespace tandem {

struct MeasuredRunOptions {
  Config config;
  int64_t globalBatch = 0;
  const Graph* graph = nullptr;    ///< for the fingerprint of the weights; outlives this
  RunObserver* watch = nullptr;    ///< outlives this
  Profiler* profiler = nullptr;    ///< takes the window's steps apart; outlives this. Null: nobody does
  DeviceTracer* tracer = nullptr;  ///< keeps what GPUs do in the last of them; outlives this. Null: nobody does
  int64_t fewestWarmup = 0;        ///< steps of warm-up at the least, whatever --warmup says
};

/// The protocol of one measurement, run by every member of a team: warm-up with one decision for all after each step,
/// then a window of a fixed number of steps between two synchronisations, without any further coupling.
class MeasuredRun {
 public:
  MeasuredRun(MeasuredRunOptions options, ProgressCallback progress);

  /// What each member does, on its thread.
  void body(ReplicaSet::Member& member);

  /// After the team has run: warm-up, window, samples, losses and notes of the record.
  void fill(RunRecord& record) const;

 private:
  static constexpr int64_t undecided = std::numeric_limits<int64_t>::max();

  void warmUp(ReplicaSet::Member& member);
  /// Warm-up step number `done`.
  StepSample warmUpStep(ReplicaSet::Member& member, int64_t done);
  void measureWindow(ReplicaSet::Member& member);
  /// Step number `step` of the window.
  StepSample windowStep(ReplicaSet::Member& member, int64_t step);
  /// The window's steps.
  void runSteps(ReplicaSet::Member& member, std::vector<StepSample>& samples);
  void collect(ReplicaSet::Member& member, const std::vector<StepSample>& samples);
  /// Member 0 only, after warm-up step number `done`.
  void decide(int64_t done);
  int64_t plannedSteps() const;
  void fillLossScale(RunRecord& record) const TANDEM_REQUIRES(mutex_);
  void report(bool warmingUp, int64_t step);

  MeasuredRunOptions options_;
  ProgressCallback progress_;
  const int64_t fewestWarmup_;
  Nanos startup_{}, begin_{}, warmupWall_{}, windowBegin_{}, reported_{};
  std::vector<double> warmupSeconds_;          // of member 0
  std::atomic<int64_t> warmupEnd_{undecided};  // number of warm-up steps, once known
  bool steady_ = true;
  int64_t steps_ = 0;
  int64_t faults_ = 0;  // minor page faults in the window
  mutable Mutex mutex_;
  Nanos firstBegin_ TANDEM_GUARDED_BY(mutex_) = Nanos::max();  // the window, of all members
  Nanos lastEnd_ TANDEM_GUARDED_BY(mutex_){};
  std::vector<StepSample> samples_ TANDEM_GUARDED_BY(mutex_);
  std::vector<double> lossSums_ TANDEM_GUARDED_BY(mutex_);
  int members_ TANDEM_GUARDED_BY(mutex_) = 0;
  uint64_t fingerprint_ TANDEM_GUARDED_BY(mutex_) = 0;
  std::shared_ptr<const BatchOrigin> origin_ TANDEM_GUARDED_BY(mutex_);  // of the images that arrived
  std::optional<LossScaleState> lossScale_ TANDEM_GUARDED_BY(mutex_);
};

}  // namespace tandem
