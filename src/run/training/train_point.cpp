#include "run/training/train_point.h"

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "comm/world.h"
#include "config/config_json.h"
#include "machine/gpu/gpu_utilization.h"
#include "machine/process/process_clock.h"
#include "run/plan/kernel_selection_json.h"
#include "run/plan/replica_set_options.h"
#include "run/plan/select_kernels.h"
#include "run/point_parts.h"
#include "run/training/evaluated_splits.h"
#include "run/training/resume.h"
#include "run/training/save_scores.h"
#include "run/training/training_rules.h"
#include "run/training/training_run.h"
#include "trace/flight_recorder.h"

namespace tandem {
namespace {

/// Facts of all checkpoints of the training.
CheckpointFacts factsOf(const RunPlan& plan, const KernelSelection& kernels) {
  return {.ranks = plan.place.size,
          .replicas = plan.config.placement.replicas,
          .config = toJson(plan.config),
          .data = dataFacts(plan),
          .program = programFacts(),
          .kernels = plan.setup.onCpu() ? toText(kernels) : "",
          .record = {}};
}

/// Rank 0 has the folder locked before others read what is there. Collective.
std::optional<Checkpoint> agreedCheckpoint(const RunPlan& plan) {
  auto checkpoint = checkpointToResume(plan);
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
    record.notes.push_back(
        "running statistics and dropout began anew: the checkpoint is of another number of replicas");
  }
}

}  // namespace

void trainPoint(const RunPlan& asked, const ProgressCallback& progress, RunRecord& record) {
  checkTraining(asked);
  const auto gpuUse = settledGpuUse(probedGpus(asked.cudaDevices));  // before this process uses the GPUs itself
  const Config::Training& training = asked.config.training;
  std::unique_ptr<CheckpointFolder> locked;
  if (!training.checkpoint.empty() && isFirst(asked.world)) {
    locked = std::make_unique<CheckpointFolder>(training.checkpoint, training.keep);
  }
  if (asked.world != nullptr) asked.world->exchange("the folder is locked");
  const auto from = agreedCheckpoint(asked);
  RunPlan resumed = asked;
  if (from) resumed.firstBatch = from->facts.step, resumed.kernels = from->facts.kernels;
  const KernelSelection kernels = selectKernels(resumed, *asked.graph, progressOf(Phase::choosingKernels, progress));
  append(record.notes, kernels.notes);
  const auto data = trainingData(resumed);
  const RunPlan plan = withShares(resumed, kernels, data, progress);
  const EvaluatedSplits splits = evaluatedSplits(plan);
  for (const std::string& note : {plan.recomputeNote, standInNote(plan), splits.note}) {
    if (!note.empty()) record.notes.push_back(note);
  }
  const auto during = evaluatorOf(plan, splits.during, kernels), atEnd = evaluatorOf(plan, splits.atEnd, kernels);
  ReplicaSetOptions options = startedOptions(plan, kernels, data, record);
  const TrainingCourse course(training, data.images->size(), plan.globalBatch);
  const auto schedule = std::make_shared<ScheduleBegin>();
  schedule->set(0);
  options.optimizer.scheduleBegin = schedule;
  options.optimizer.totalSteps = course.steps();
  options.optimizer.learningRate = scaledRate(plan);
  record.placement = placementOf(plan, options);
  noteShares(options, record);
  if (from) noteResume(*from, plan, record);
  ReplicaSet team(options);
  RunObserver watch(plan.hostCores, plan.cudaDevices, gpuUse, observedProcesses(plan));
  if (data.feeders) watch.fedBy([feeders = data.feeders] { return feeders->processes(); });
  std::unique_ptr<CheckpointKeeper> keeper;
  if (locked) keeper = std::make_unique<CheckpointKeeper>(std::move(locked), factsOf(plan, kernels));
  TrainingRun run({.plan = &plan,
                   .course = course,
                   .team = &options,
                   .lossWeights = lossWeights(options),
                   .watch = &watch,
                   .during = during.get(),
                   .atEnd = atEnd.get(),
                   .best = &bestOf(plan),
                   .saves = !training.checkpoint.empty(),
                   .keeper = keeper.get(),
                   .from = from},
                  progress);
  SavedWeights weights(isFirst(plan.world) ? plan.config.output.saveWeights : "");
  enterStage(Stage::training);
  team.run([&](ReplicaSet::Member& member) {
    run.body(member);
    if (member.index() == 0) weights.write(*plan.graph, member);
  });
  enterStage(Stage::ending);
  run.fill(record);
  watch.fill(record);
  if (data.bad && !data.bad->text().empty()) record.notes.push_back(data.bad->text());
  noteBadImages(during.get(), record);
  noteBadImages(atEnd.get(), record);
  if (const std::string cached = data.cacheText(); !cached.empty()) record.notes.push_back(cached);
  fillFrom(team, options, record);
  if (plan.setup.onCpu()) record.peakMemoryBytes += watch.feedersPeak();
  const Evaluator* const last = atEnd ? atEnd.get() : during.get();
  if (last != nullptr && isFirst(plan.world) && !training.saveScores.empty()) {
    saveScores(training.saveScores, last->result());
  }
  weights.commit();
}

}  // namespace tandem
