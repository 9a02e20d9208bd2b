#include "run/training/train_point.h"

#include <algorithm>

#include "base/text.h"
#include "comm/world.h"
#include "config/config_json.h"
#include "machine/gpu/gpu_utilization.h"
#include "run/plan/kernel_selection_json.h"
#include "run/plan/replica_set_options.h"
#include "run/plan/select_kernels.h"
#include "run/point_parts.h"
#include "run/training/evaluated_splits.h"
#include "run/training/resume.h"
#include "run/training/save_scores.h"
#include "run/training/training_rules.h"
#include "run/training/training_run.h"
#include "run/training/whitened_weights.h"
#include "trace/flight_recorder.h"

namespace tandem {
namespace {

/// Facts of all checkpoints of the training.
CheckpointFacts factsOf(const RunPlan& plan, const KernelSelection& kernels, const Environment& environment) {
  return {.ranks = plan.place.size,
          .replicas = plan.config.placement.replicas,
          .batch = plan.globalBatch,
          .config = toJson(plan.config),
          .data = dataFacts(plan),
          .program = programFacts(environment),
          .kernels = plan.setup.onCpu() ? toText(kernels) : "",
          .shares = plan.shares,
          .record = {}};
}

/// The folder of --checkpoint, on rank 0; null elsewhere, and without the option. Others read what is there once it is
/// locked. Collective.
std::unique_ptr<CheckpointFolder> lockedFolder(const RunPlan& plan) {
  const Config::Training& training = plan.config.training;
  std::unique_ptr<CheckpointFolder> folder;
  if (!training.checkpoint.empty() && isFirst(plan.world)) {
    folder = std::make_unique<CheckpointFolder>(training.checkpoint, training.keep);
  }
  if (plan.world != nullptr) plan.world->exchange("the folder is locked");
  return folder;
}

RunPlan resumedPlan(RunPlan plan, const Checkpoint& from) {
  plan.firstBatch = from.facts.step, plan.kernels = from.facts.kernels;
  return plan;
}

/// Throws UsageError for options that do nothing where nothing is evaluated.
void requireEvaluation(const RunPlan& plan, const EvaluatedSplits& splits) {
  const Config::Training& training = plan.config.training;
  std::string given;
  if (!training.stopAt.empty()) given = concat("--stop-at=", training.stopAt);
  if (!training.saveScores.empty()) given = concat("--save-scores=", training.saveScores);
  if (plan.setup.schedule->followsLoss) given = concat("--schedule=", plan.config.step.schedule);
  if (splits.during || given.empty()) return;
  const std::string why =
      splits.note.empty() ? concat("give --data, and not --validate-on=", Config::noSplit) : splits.note;
  throw UsageError(concat(given, " needs an evaluation, and there is none: ", why));
}

/// The checkpoint that all ranks go on from. Collective.
std::optional<Checkpoint> agreedCheckpoint(const RunPlan& plan, const Environment& environment) {
  auto checkpoint = checkpointToResume(plan, environment);
  if (plan.world == nullptr) return checkpoint;
  const auto steps = plan.world->exchange(concat(checkpoint ? checkpoint->facts.step : -1));
  for (size_t rank = 1; rank < steps.size(); ++rank) {
    if (steps[rank] == steps[0]) continue;
    throw CheckpointError(concat("--checkpoint=", plan.config.training.checkpoint, ": rank 0 goes on from update ",
                                 steps[0], ", rank ", rank, " from ", steps[rank],
                                 "; all ranks must see the same folder"));
  }
  return checkpoint;
}

/// The metric by which weights are the best.
const EvaluationMetric& bestOf(const RunPlan& plan) {
  if (plan.setup.best != nullptr) return *plan.setup.best;
  const bool flags = !labelsOf(*plan.graph).isOneClass();
  return *std::ranges::find(evaluationMetrics(), flags, &EvaluationMetric::ofFlags);
}

std::unique_ptr<Evaluator> evaluatorOf(const RunPlan& plan, std::optional<DataSplit> split,
                                       const KernelSelection& kernels) {
  if (!split) return nullptr;
  const int64_t asked = plan.config.training.evalBatch;
  return std::make_unique<Evaluator>(plan, *split, asked > 0 ? asked : plan.replicaBatch, kernels);
}

/// --lr-scaling.
double scaledRate(const RunPlan& plan) {
  const double ratio = static_cast<double>(plan.globalBatch) / static_cast<double>(plan.config.training.lrBatch);
  return plan.config.step.learningRate * plan.setup.lrScaling->factor(ratio);
}

void noteBadImages(const Evaluator* evaluator, RunRecord& record) {
  if (evaluator != nullptr && !evaluator->badText().empty()) record.notes.push_back(evaluator->badText());
}

void noteResume(const Checkpoint& from, const RunPlan& plan, RunRecord& record) {
  record.notes.push_back(concat("the training went on from ", from.path));
  const std::string& changed = from.facts.record.changed;
  const bool otherReplicas =
      from.state.replicas.size() != static_cast<size_t>(plan.place.size * plan.config.placement.replicas);
  if (!changed.empty()) record.notes.push_back(concat("not bit-equal to an uninterrupted training: ", changed));
  if (otherReplicas) {
    record.notes.emplace_back(
        "random numbers of dropout and the loss scale began anew: the checkpoint is of another number of replicas");
  }
}

/// All that a training needs before its replicas are built.
class PreparedTraining {
 public:
  PreparedTraining(const RunPlan& asked, const ProgressCallback& progress, RunRecord& record)
      : folder_(lockedFolder(asked)),
        from_(agreedCheckpoint(asked, record.environment)),
        resumed_(from_ ? resumedPlan(asked, *from_) : asked),
        kernels_(selectKernels(resumed_, *resumed_.graph, progressOf(Phase::choosingKernels, progress))),
        data_(trainingData(resumed_)),
        plan_(withShares(resumed_, from_ ? from_->facts.shares : std::vector<int64_t>(), kernels_, data_, progress)) {
    const EvaluatedSplits splits = evaluatedSplits(plan_);
    requireEvaluation(plan_, splits);
    during_ = evaluatorOf(plan_, splits.during, kernels_), atEnd_ = evaluatorOf(plan_, splits.atEnd, kernels_);
    append(record.notes, kernels_.notes);
    for (const std::string& note : {plan_.recomputeNote, standInNote(plan_), splits.note}) {
      if (!note.empty()) record.notes.push_back(note);
    }
    if (from_) noteResume(*from_, plan_, record);
  }

  const RunPlan& plan() const { return plan_; }
  const TrainingData& data() const { return data_; }
  TrainingCourse course() const { return {plan_.config.training, data_.images->size(), plan_.globalBatch}; }
  /// The evaluator of the split that is evaluated last; null: none is.
  const Evaluator* last() const { return atEnd_ ? atEnd_.get() : during_.get(); }

  /// Of the replicas.
  ReplicaSetOptions options(RunRecord& record) const {
    ReplicaSetOptions options = startedOptions(plan_, kernels_, data_, record);
    const auto schedule = std::make_shared<ScheduleBegin>();
    schedule->set(0);
    options.optimizer.scheduleBegin = schedule;
    options.optimizer.course.totalSteps = course().steps();
    options.optimizer.course.stepsPerEpoch = course().stepsPerEpoch();
    options.optimizer.learningRate = scaledRate(plan_);
    options.optimizer.rateFactor = rateFactor_;
    const double whitenEpochs = plan_.config.training.whitenEpochs;
    if (whitenEpochs > 0) options.optimizer.whiteningSteps = course().stepsAt(whitenEpochs);
    if (!options.pretrained && !from_) options.whitening = whitenedWeights(plan_, data_);
    const int64_t begin = plan_.firstBatch, size = course().trainSizeAt(begin);
    if (size > 0) options.source = sources(begin, size);
    return options;
  }

  /// Of images of this size, from update `step` on. Synthetic images are made in it.
  BatchSourceMaker sources(int64_t step, int64_t pixels) const {
    RunPlan sized = withImageSize(plan_, pixels);
    sized.firstBatch = step;
    TrainingData data = data_;
    if (!plan_.data) data.images = trainingData(sized).images;
    return batchSources(sized, kernels_, data);
  }

  /// Null where this rank writes no checkpoints. Call it once.
  std::unique_ptr<CheckpointKeeper> keeper(const Environment& environment) {
    if (!folder_) return nullptr;
    return std::make_unique<CheckpointKeeper>(std::move(folder_), factsOf(plan_, kernels_, environment));
  }

  TrainingRunOptions runOptions(const ReplicaSetOptions& team, RunObserver& watch, CheckpointKeeper* keeper) const {
    return {.plan = &plan_,
            .course = course(),
            .team = &team,
            .lossWeights = lossWeights(team),
            .watch = &watch,
            .during = during_.get(),
            .atEnd = atEnd_.get(),
            .best = &bestOf(plan_),
            .keeper = keeper,
            .rateFactor = rateFactor_.get(),
            .from = from_,
            .sources = [this](int64_t step, int64_t pixels) { return sources(step, pixels); }};
  }

  /// What was found while images were read.
  void note(RunRecord& record) const {
    noteData(data_, record);
    noteBadImages(during_.get(), record);
    noteBadImages(atEnd_.get(), record);
  }

 private:
  std::unique_ptr<CheckpointFolder> folder_;  // on rank 0, with --checkpoint
  std::optional<Checkpoint> from_;
  const RunPlan resumed_;
  const KernelSelection kernels_;
  const TrainingData data_;
  const RunPlan plan_;
  std::unique_ptr<Evaluator> during_, atEnd_;
  const std::shared_ptr<RateFactor> rateFactor_ = std::make_shared<RateFactor>();
};

}  // namespace

void trainPoint(const RunPlan& asked, const ProgressCallback& progress, RunRecord& record) {
  checkTraining(asked);
  const auto gpuUse = settledGpuUse(probedGpus(asked.cudaDevices));  // before this process uses the GPUs itself
  PreparedTraining prepared(asked, progress, record);
  const RunPlan& plan = prepared.plan();
  const ReplicaSetOptions options = prepared.options(record);
  record.placement = placementOf(plan, options);
  noteShares(options, record);
  ReplicaSet team(options);
  RunObserver watch(plan.hostCores, plan.cudaDevices, gpuUse, observedProcesses(plan));
  if (const auto feeders = prepared.data().feeders) watch.fedBy([feeders] { return feeders->processes(); });
  const auto keeper = prepared.keeper(record.environment);
  TrainingRun run(prepared.runOptions(options, watch, keeper.get()), progress);
  SavedWeights weights(isFirst(plan.world) ? plan.config.output.saveWeights : "");
  stopTrainingOnSignals();  // before, nothing would be lost
  enterStage(Stage::training);
  team.run([&](ReplicaSet::Member& member) {
    run.body(member);
    if (member.index() == 0) weights.write(*plan.graph, member);
  });
  enterStage(Stage::ending);
  run.fill(record);
  if (const auto& course = record.training->course; !course.empty() && course.back().imageSize > 0) {
    noteWork(withImageSize(plan, course.back().imageSize), record.placement);
  }
  record.training->classes = prepared.data().images->info().classNames;
  watch.fill(record);
  prepared.note(record);
  fillFrom(team, options, record);
  if (plan.setup.onCpu()) record.peakMemoryBytes += watch.feedersPeak();
  const std::string& scores = plan.config.training.saveScores;
  if (!scores.empty() && !prepared.last()->isComplete()) {
    record.notes.push_back(concat("--save-scores=", scores, ": not written, as the last evaluation was not made"));
  } else if (!scores.empty() && isFirst(plan.world)) {
    saveScores(scores, prepared.last()->result());
  }
  weights.commit();
}

}  // namespace tandem
