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
#include "run/drift_check.h"
#include "run/run_point.h"
#include "train/replica_set.h"

namespace tandem {

struct MeasuredRunOptions {
  Config config;
  int64_t globalBatch = 0;
  std::vector<double> lossWeights =
      {};                        ///< shares of this process's replicas in a step, relative to the mean of all; empty: 1
  const Graph* graph = nullptr;  ///< for the fingerprint of the weights
  RunObserver* watch = nullptr;  ///< never null
  Profiler* profiler = nullptr;  ///< records the spans of the window's steps; null: no profile
  ScheduleBegin* schedule = nullptr;  ///< is told where warm-up ends; null: nobody
  DeviceTracer* tracer = nullptr;     ///< records GPU activities of the window's last steps; null: none
  World* world = nullptr;             ///< of the ranks; null: there is this one
  bool servesAlone = false;           ///< this rank's members compute nothing (ReplicaSetOptions::servesAlone)
  bool keepsWeightsEqual = true;      ///< whether all ranks end with the same weights
  int64_t fewestWarmup = 0;           ///< least number of warm-up steps, even if --warmup gives fewer
  /// Batches of a replica that may wait when the window begins. So many steps run just before it: the window would
  /// otherwise hold batches that were made before, in no time. For runs that only make batches.
  int64_t waitingBatches = 0;
};

/// The protocol of one measurement. All pointers of the options must outlive this object.
///
/// Every member of a ReplicaSet runs body(). In warm-up, member 0 of rank 0 decides after each step for all whether to
/// go on. The measured window is a fixed number of steps between two synchronisations, of all ranks before it. Within
/// it this class does not synchronise replicas, so their coupling is the strategy's own.
class MeasuredRun {
 public:
  MeasuredRun(MeasuredRunOptions options, ProgressCallback progress);

  /// Runs the measurement for one member, on its thread. Collective.
  void body(ReplicaSet::Member& member);

  /// Fills warm-up, window, samples, losses, profile and notes of the record. Call it after ReplicaSet::run().
  void fill(RunRecord& record) const;

 private:
  static constexpr int64_t undecided = std::numeric_limits<int64_t>::max();

  void warmUp(ReplicaSet::Member& member);
  /// `done`: number of warm-up steps before this one.
  StepSample warmUpStep(ReplicaSet::Member& member, int64_t done);
  void measureWindow(ReplicaSet::Member& member);
  /// `step`: number of the step in the window, from 0.
  StepSample windowStep(ReplicaSet::Member& member, int64_t step);
  void runSteps(ReplicaSet::Member& member, std::vector<StepSample>& samples);
  /// Compares all weights after step `step` of the window, if --check-drift asks for it there.
  void checkDrift(ReplicaSet::Member& member, int64_t step);
  /// Compares all weights at the end, where there are several ranks, or if asked for.
  void checkDriftAtTheEnd(ReplicaSet::Member& member);
  /// Takes the fingerprint of the weights where one is wanted. Called by member 0 only.
  void takeFingerprint(ReplicaSet::Member& member);
  /// Says to the other ranks what this one used and exchanged, and hears the same of them. Throws InternalError if they
  /// made other collectives.
  void compareRanks();
  void collect(ReplicaSet::Member& member, const std::vector<StepSample>& samples);
  /// Ends warm-up if `done` steps suffice for rank 0. Called by member 0 only.
  void decide(int64_t done);
  /// Whether `done` steps suffice. Called by member 0 of rank 0.
  bool suffices(int64_t done);
  /// Warm-up has taken `done` steps: the window of `steps` and the schedule begin.
  void endWarmUp(int64_t done, int64_t steps);
  int64_t plannedSteps() const;
  void fillLossScale(RunRecord& record) const TANDEM_REQUIRES(mutex_);
  double lossWeight(int replica) const;
  void report(bool warmingUp, int64_t step);

  MeasuredRunOptions options_;
  ProgressCallback progress_;
  const int64_t fewestWarmup_;
  DriftCheck drift_;
  // Fields without a lock are written by member 0 alone. A barrier follows before another member reads them.
  Nanos startup_{}, begin_{}, warmupWall_{}, windowBegin_{}, reported_{};
  std::vector<double> warmupSeconds_;          // steps of member 0
  std::atomic<int64_t> warmupEnd_{undecided};  // number of warm-up steps, once known
  bool steady_ = true;
  int64_t steps_ = 0;
  int64_t faults_ = 0;  // minor page faults in the window
  mutable Mutex mutex_;
  Nanos firstBegin_ TANDEM_GUARDED_BY(mutex_) = Nanos::max();  // of the window, over all members
  Nanos lastEnd_ TANDEM_GUARDED_BY(mutex_){};
  std::vector<StepSample> samples_ TANDEM_GUARDED_BY(mutex_);
  std::vector<double> lossSums_ TANDEM_GUARDED_BY(mutex_);
  int members_ TANDEM_GUARDED_BY(mutex_) = 0;
  std::optional<uint64_t> fingerprint_ TANDEM_GUARDED_BY(mutex_);        // with --deterministic
  std::shared_ptr<const BatchOrigin> origin_ TANDEM_GUARDED_BY(mutex_);  // of the images really trained on
  std::optional<LossScaleState> lossScale_ TANDEM_GUARDED_BY(mutex_);
};

}  // namespace tandem
