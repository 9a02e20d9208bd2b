#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "measure/record/record.h"
#include "observe/run_observer.h"
#include "run/drift_check.h"
#include "run/run_point.h"
#include "run/training/checkpoint_keeper.h"
#include "run/training/evaluator.h"
#include "run/training/joined_statistics.h"
#include "run/training/rate_control.h"
#include "run/training/stop_agreement.h"
#include "run/training/training_course.h"
#include "run/training/training_losses.h"
#include "train/replica_set.h"

namespace tandem {

struct TrainingRunOptions {
  const RunPlan* plan = nullptr;
  TrainingCourse course;
  const ReplicaSetOptions* team = nullptr;  ///< of the replicas
  std::vector<double> lossWeights;          ///< as MeasuredRunOptions::lossWeights
  RunObserver* watch = nullptr;
  Evaluator* during = nullptr;             ///< null: nothing is evaluated while the training goes on
  Evaluator* atEnd = nullptr;              ///< null: nothing besides
  const EvaluationMetric* best = nullptr;  ///< by which weights are the best
  CheckpointKeeper* keeper = nullptr;      ///< writes checkpoints, on rank 0; null elsewhere, and without --checkpoint
  RateFactor* rateFactor = nullptr;        ///< of the replicas' optimizers
  std::optional<Checkpoint> from = {};     ///< what the training goes on from
  /// The sources of batches from update `step` on, with images of this size. Thread-safe.
  std::function<BatchSourceMaker(int64_t step, int64_t pixels)> sources;
};

/// The course of one training: parts of steps, and pauses between them, in which replicas evaluate and save. All
/// pointers of the options must outlive this object. Every member of a ReplicaSet runs body().
class TrainingRun {
 public:
  TrainingRun(TrainingRunOptions options, ProgressCallback progress);

  /// Trains for one member, on its thread. Collective. Throws NumericError for a loss that is not finite.
  void body(ReplicaSet::Member& member);

  /// Fills window, samples, losses and the training of the record. Call it after ReplicaSet::run().
  void fill(RunRecord& record) const;

 private:
  /// A run of steps between two pauses.
  struct Part {
    int64_t begin = 0, end = 0;  ///< updates before and after
    Nanos began{}, ended{};
    std::vector<StepSample> samples;
    int64_t imageSize = 0;
  };

  /// Of a resumed training: whether an evaluation before has reached the target.
  void findTarget();
  void start(ReplicaSet::Member& member);
  /// Whether the evaluation that was due at the checkpoint is still to be made.
  bool owesEvaluation() const;
  /// Trains from update `step` to the next pause, or to where all agree to end. Returns the number of updates then.
  int64_t trainPart(ReplicaSet::Member& member, int64_t step);
  /// Gives the member images of the size that the update after `step` has, where this is another one than before.
  void resize(ReplicaSet::Member& member, int64_t step);
  int64_t imageSizeAt(int64_t step) const;
  /// What is due after so many updates. True if the training is over.
  bool pause(ReplicaSet::Member& member, int64_t step);
  void evaluate(ReplicaSet::Member& member, Evaluator& evaluator, int64_t step);
  /// With --ema: exchanges weights and running statistics of all replicas and their averages. Collective.
  void swapAverages(ReplicaSet::Member& member);
  bool saves() const { return !options_.plan->config.training.checkpoint.empty(); }
  bool averages() const { return options_.team->optimizer.average.isKept(); }
  /// Judges the last evaluation on rank 0, and tells all ranks. Called by member 0.
  void judge(Evaluator& evaluator, int64_t step, Nanos began);
  /// Keeps the weights after update `step` as the best. Called by member 0 of rank 0.
  void saveBest(ReplicaSet::Member& member, int64_t step);
  void save(ReplicaSet::Member& member, int64_t step, bool isLast);
  void addSamples(std::vector<StepSample> samples);
  /// Notes the part that has ended after so many updates. Called by member 0.
  void closePart(int64_t step);
  /// The last part of the course; where the training has just been resumed, an empty one.
  EpochRecord& lastEpoch(int64_t step);
  /// Notes why and whether unfinished the training has ended after so many updates. Called by member 0.
  void noteEnd(int64_t step);
  [[noreturn]] void failForLoss(int64_t step) const;
  /// After a loss that is not finite: all go back to the last checkpoint's weights, with a lower rate, and on with the
  /// batches that follow. Throws NumericError where they must not. Collective.
  void goBack(ReplicaSet::Member& member, int64_t step);
  bool stops() const { return agreement_.reason() != StopReason::none; }
  void report(int64_t step, const Part& part);
  void say(std::string line) const;

  const TrainingRunOptions options_;
  const ProgressCallback progress_;
  const int64_t first_;  // updates made before
  StopAgreement agreement_;
  JoinedStatistics statistics_;
  StateExchange state_;
  DriftCheck drift_;
  // Fields without a lock are written by member 0 alone. A barrier follows before another member reads them.
  Nanos startup_{}, begin_{}, reported_{};
  Part part_;
  bool reached_ = false;  // the target of --stop-at
  bool gaveUp_ = false;   // the last evaluation
  bool isBest_ = false;   // likewise
  RateControl rate_;
  bool hasCheckpoint_ = false;
  std::optional<Checkpoint> back_;  // while all go back
  TrainingRecord record_;
  std::vector<Part> kept_;  // the last parts, whose steps are the measured window
  mutable Mutex mutex_;
  TrainingLosses losses_;
  std::vector<int64_t> sizes_;                 // by member: pixels of its images
  Nanos evaluating_{};                         // of the last evaluation
  std::shared_ptr<const BatchOrigin> origin_;  // of the images trained on
  std::optional<LossScaleState> lossScale_ TANDEM_GUARDED_BY(mutex_);
};

}  // namespace tandem
