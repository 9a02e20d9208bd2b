#include "run/training/training_run.h"

#include <algorithm>

#include "base/catalog.h"
#include "base/number.h"
#include "base/text.h"
#include "comm/world.h"
#include "config/training_texts.h"
#include "machine/process/process_clock.h"
#include "run/point_parts.h"
#include "train/checkpoint/weight_loader.h"

namespace tandem {
namespace {

constexpr int64_t fewestKept = 1000;   // steps of the measured window, if there are as many
constexpr int64_t prefetchSteps = 16;  // before an evaluation its first batches are begun
constexpr Nanos reportInterval = std::chrono::milliseconds(100);

std::optional<Target> targetOf(const Config& config) {
  return config.training.stopAt.empty() ? std::nullopt : parseTarget(config.training.stopAt);
}

/// Whether an evaluation is as good as the target.
bool reaches(const EvaluationRecord& evaluation, const Target& target) {
  const EvaluationMetric& metric = find(evaluationMetrics(), target.metric, "--stop-at");
  return !isBetter(metric, target.value, metric.of(evaluation));
}

}  // namespace

TrainingRun::TrainingRun(TrainingRunOptions options, ProgressCallback progress)
    : options_(std::move(options)),
      progress_(std::move(progress)),
      first_(options_.from ? options_.from->facts.step : 0),
      agreement_(options_.plan->world, options_.plan->config.training.maxTime, now() - sinceProcessStart()),
      statistics_(options_.plan->world, options_.team->devices.size()),
      state_(*options_.plan->graph, options_.plan->world, options_.team->devices.size()),
      drift_(options_.plan->world, options_.plan->config.placement.replicas, false),
      rate_(*options_.plan),
      losses_(options_.plan->world, first_, options_.lossWeights, options_.team->devices.size()),
      sizes_(options_.team->devices.size(), imageSizeAt(first_)) {
  if (options_.from) record_ = options_.from->facts.record;
  record_.course.clear();
  record_.images = options_.course.images();
  record_.ended.clear();
  record_.interrupted = false;
  if (!options_.from) return;
  const size_t kept = options_.from->state.optimizer.size(), needed = stateValues(options_.team->optimizer);
  if (kept != needed) {
    throw CheckpointError(concat(options_.from->path, " has ", kept,
                                 " values of the optimizer for each weight, and this ", "training needs ", needed,
                                 "; keep --optimizer and --ema, or begin anew by --weights"));
  }
  record_.resumedAt = first_;
  hasCheckpoint_ = true;
  rate_.restore(options_.from->facts.rate);
  options_.rateFactor->set(rate_.factor());
  findTarget();
}

// It may be another target than before.
void TrainingRun::findTarget() {
  const auto target = targetOf(options_.plan->config);
  record_.toTarget = {};
  if (!target || options_.during == nullptr) return;
  const std::string_view split = rowOf(options_.during->split()).name;
  const auto found = std::ranges::find_if(
      record_.evaluations, [&](const EvaluationRecord& made) { return made.split == split && reaches(made, *target); });
  reached_ = found != record_.evaluations.end();
  if (reached_) record_.toTarget = found->at;
}

void TrainingRun::body(ReplicaSet::Member& member) {
  start(member);
  int64_t step = first_;
  bool over = owesEvaluation() ? pause(member, step) : reached_ || step >= options_.course.steps();
  while (!over) {
    step = trainPart(member, step);
    over = pause(member, step);
  }
  if (options_.atEnd != nullptr && !stops()) evaluate(member, *options_.atEnd, step);
  if (member.index() == 0) noteEnd(step);
  member.settle();
  member.barrier();
  if (options_.plan->world != nullptr) drift_.compare(member, step - 1, DriftCheck::Values::masters);
  swapAverages(member);
  statistics_.join(member);  // those of the weights that are saved
  member.barrier();
  if (const auto scale = member.lossScale(); scale && member.index() == 0) {
    const MutexLock lock(mutex_);
    lossScale_ = scale;
  }
  if (member.index() != 0) return;
  options_.watch->windowEnds();
  origin_ = member.batch().origin;
  if (options_.keeper != nullptr) options_.keeper->wait();
}

// An evaluation is given up when the training must end: the checkpoint is worth more. Updates may have been of another
// batch since, so epochs are compared.
bool TrainingRun::owesEvaluation() const {
  if (!options_.from || options_.during == nullptr) return false;
  const bool isLast = first_ == options_.course.steps();
  const auto& made = options_.from->facts.record.evaluations;
  const double epochs = options_.course.epochsAt(first_) - 1 / options_.course.stepsPerEpoch();
  const auto isOfThen = [&](const EvaluationRecord& evaluation) { return evaluation.epoch > epochs; };
  return (isLast || options_.course.evaluatesAt(first_)) && std::ranges::none_of(made, isOfThen);
}

void TrainingRun::start(ReplicaSet::Member& member) {
  if (options_.from) {
    state_.give(member, options_.from->state);
    member.continueAt(first_);
  }
  member.synchronize();
  member.barrier();
  if (member.index() != 0) return;
  startup_ = sinceProcessStart();
  part_.ended = now();  // what is done before the first step counts from here
  begin_ = part_.ended - (record_.evaluations.empty() ? Nanos{} : record_.evaluations.back().at);
  options_.watch->windowBegins();
}

int64_t TrainingRun::imageSizeAt(int64_t step) const {
  const int64_t size = options_.course.trainSizeAt(step);
  return size > 0 ? size : options_.plan->config.network.imageSize;
}

void TrainingRun::resize(ReplicaSet::Member& member, int64_t step) {
  int64_t& size = sizes_[static_cast<size_t>(member.index())];
  const int64_t wanted = imageSizeAt(step);
  if (size == wanted) return;
  member.readFrom(options_.sources(step, wanted));
  size = wanted;
}

int64_t TrainingRun::trainPart(ReplicaSet::Member& member, int64_t step) {
  const int64_t begin = step, end = options_.course.nextPause(step);
  Evaluator* const next = options_.course.evaluatesAt(end) ? options_.during : nullptr;
  std::vector<StepSample> samples;
  member.synchronize();
  member.barrier();
  resize(member, begin);
  member.barrier();
  if (member.index() == 0) {
    agreement_.begin(step + 1);
    options_.watch->enter(trainingPhase);
    part_ = {.begin = begin, .end = end, .began = now(), .ended = {}, .samples = {}, .imageSize = imageSizeAt(begin)};
  }
  member.barrier();
  for (; step < end; ++step) {
    if (agreement_.isDue(step)) agreement_.talk(member, step, losses_.take(member));
    if (stops()) break;
    if (next != nullptr && step == std::max(begin, end - prefetchSteps)) next->prefetch(member);
    samples.push_back(member.step());
    if (member.index() == 0) report(step + 1, part_);
  }
  member.synchronize();
  member.barrier();
  if (member.index() == 0) part_.ended = now();
  if (!stops()) agreement_.talk(member, step, losses_.take(member));
  addSamples(std::move(samples));
  member.barrier();
  if (agreement_.reason() == StopReason::notFinite) goBack(member, step);
  if (member.index() == 0) closePart(step);
  member.barrier();
  return step;
}

void TrainingRun::addSamples(std::vector<StepSample> samples) {
  const MutexLock lock(mutex_);
  part_.samples.insert(part_.samples.end(), samples.begin(), samples.end());
}

// The last parts are kept for the measured window: as many as have enough steps, all with images of one size.
void TrainingRun::closePart(int64_t step) {
  part_.end = step;
  record_.course.push_back({.epoch = options_.course.epochsAt(step),
                            .step = step,
                            .loss = losses_.mean(part_.begin, step),
                            .rate = options_.team->optimizer.rateAt(std::max(part_.begin, step - 1)),
                            .training = part_.ended - part_.began,
                            .imageSize = part_.imageSize});
  record_.steps = step;
  record_.epochs = options_.course.epochsAt(step);
  kept_.push_back(part_);
  int64_t steps = 0;
  size_t from = kept_.size();
  while (from > 0 && steps < fewestKept && kept_[from - 1].imageSize == part_.imageSize) {
    --from, steps += kept_[from].end - kept_[from].begin;
  }
  kept_.erase(kept_.begin(), kept_.begin() + static_cast<int64_t>(from));
}

EpochRecord& TrainingRun::lastEpoch(int64_t step) {
  if (record_.course.empty()) record_.course.push_back({.epoch = options_.course.epochsAt(step), .step = step});
  return record_.course.back();
}

void TrainingRun::failForLoss(int64_t step) const {
  throw NumericError(concat("the loss of update ", losses_.bad(), " is not finite, noticed before update ", step,
                            "; it must stay finite: lower --lr, or use --precision=fp32",
                            saves() ? "; --resume=auto goes on from the last checkpoint" : ""));
}

// Batches are not read again: those that follow may be harmless. The number of updates goes on too.
void TrainingRun::goBack(ReplicaSet::Member& member, int64_t step) {
  constexpr int64_t most = 3;
  if (member.index() == 0) losses_.agreeOnBad();
  member.barrier();
  if (!options_.plan->setup.onNan->goesBack || !hasCheckpoint_ || record_.wentBack == most) failForLoss(step);
  World* const world = options_.plan->world;
  member.settle();
  member.barrier();
  if (member.index() == 0) {
    if (options_.keeper != nullptr) options_.keeper->wait();
    if (world != nullptr) world->exchange("the checkpoint is written");
    back_ = newestCheckpoint(options_.plan->config.training.checkpoint);
    if (!back_) throw CheckpointError("the checkpoint to go back to is gone");
    rate_.wentBack();
    options_.rateFactor->set(rate_.factor());
    ++record_.wentBack;
    say(concat("update ", step, ": a loss was not finite; went back to the weights of update ", back_->facts.step,
               ", with ", rate_.factor(), " times the learning rate"));
    agreement_.goOn();
    losses_.forgetBad();
  }
  member.barrier();
  state_.give(member, back_->state);
  member.barrier();
  if (member.index() == 0) back_.reset();
}

bool TrainingRun::pause(ReplicaSet::Member& member, int64_t step) {
  const bool isLast = step == options_.course.steps();
  const bool evaluates = options_.during != nullptr && !stops() && (isLast || options_.course.evaluatesAt(step));
  if (evaluates) evaluate(member, *options_.during, step);
  const bool over = isLast || stops() || reached_;
  if (saves() && (over || options_.course.savesAt(step))) save(member, step, over);
  member.barrier();
  return over;
}

// A training goes on if it had steps before it, or an evaluation.
void TrainingRun::noteEnd(int64_t step) {
  const bool isLast = step == options_.course.steps();
  record_.ended = reached_ && !isLast && !stops() ? "stop-at" : std::string(nameOf(agreement_.reason()));
  const bool goesOn = gaveUp_ || (!isLast && !reached_);
  record_.interrupted = goesOn && (agreement_.reason() == StopReason::signal || (stops() && saves()));
}

// Replicas may share memory: then the first of them exchanges.
void TrainingRun::swapAverages(ReplicaSet::Member& member) {
  if (!averages()) return;
  member.barrier();
  member.gatherState();
  if (state_.isFirstWithItsMemory(member)) swapAverage(member.buffers(), options_.team->optimizer);
  member.swapStatistics();
  member.synchronize();
  member.barrier();
}

void TrainingRun::evaluate(ReplicaSet::Member& member, Evaluator& evaluator, int64_t step) {
  if (member.index() == 0) options_.watch->enter(std::string(rowOf(evaluator.split()).name));
  member.settle();
  member.synchronize();
  swapAverages(member);
  statistics_.join(member);
  member.barrier();
  const Nanos began = now();
  if (member.index() == 0 && progress_) progress_({.phase = Phase::evaluating, .step = step});
  evaluator.run(member, [this] { return agreement_.isWanted(); });
  member.barrier();
  if (member.index() == 0) gaveUp_ = agreement_.endIfWanted();
  if (member.index() == 0 && !gaveUp_) {
    judge(evaluator, step, began);
    if (isBest_ && options_.keeper != nullptr) saveBest(member, step);
  }
  member.barrier();
  statistics_.restore(member);
  swapAverages(member);
  member.synchronize();
  member.barrier();
  if (member.index() != 0 || stops()) return;
  EpochRecord& last = lastEpoch(step);
  last.evaluating += evaluating_;
  last.idle = now() - part_.ended - last.evaluating - last.saving;
}

void TrainingRun::saveBest(ReplicaSet::Member& member, int64_t step) {
  const Nanos began = now();
  options_.watch->enter(savingPhase);
  options_.keeper->saveBest(weightsOf(*options_.plan->graph, member.buffers(), member.executor()));
  lastEpoch(step).saving += now() - began;
}

// Ranks hear "BEST REACHED LOSS". Only rank 0 has the results of all images.
void TrainingRun::judge(Evaluator& evaluator, int64_t step, Nanos began) {
  World* const world = options_.plan->world;
  evaluator.gather();
  evaluating_ = now() - began;
  std::string decided;
  if (isFirst(world)) {
    for (EvaluationRecord& old : record_.evaluations) {
      if (old.split == rowOf(evaluator.split()).name) old.confusion.clear(), old.wrong.clear();
    }
    EvaluationRecord evaluation = evaluated(evaluator.result(), /*withConfusion=*/true);
    evaluation.wrong = evaluator.surestErrors(options_.plan->config.training.wrongImages);
    evaluation.split = rowOf(evaluator.split()).name;
    evaluation.averaged = averages();
    evaluation.epoch = options_.course.epochsAt(step), evaluation.step = step;
    evaluation.at = now() - begin_, evaluation.wall = evaluating_;
    double best = EvaluationRecord::none;
    for (const EvaluationRecord& old : record_.evaluations) {
      if (old.split == evaluation.split && isBetter(*options_.best, options_.best->of(old), best))
        best = options_.best->of(old);
    }
    const bool counts = &evaluator == options_.during;
    const bool isBest = counts && isBetter(*options_.best, options_.best->of(evaluation), best);
    const auto target = targetOf(options_.plan->config);
    const bool reached = counts && target && reaches(evaluation, *target);
    decided = concat(isBest ? 1 : 0, ' ', reached ? 1 : 0, ' ', shortest(evaluation.loss));
    if (isBest) record_.bestStep = step, record_.bestMetric = options_.best->name;
    if (reached && record_.toTarget == Nanos{}) record_.toTarget = evaluation.at;
    const EpochRecord& epoch = lastEpoch(step);
    const double rate = static_cast<double>((part_.end - part_.begin) * options_.plan->globalBatch) /
                        std::max(1e-9, seconds(epoch.training));
    say(concat("epoch ", fixed(epoch.epoch, 2), ", update ", step, ": training loss ", fixed(epoch.loss, 4), ", ",
               fixed(rate, 1), " images/s",
               options_.plan->config.training.trainSize.empty() ? "" : concat(" of ", part_.imageSize, " pixels"), "; ",
               evaluation.split, " ", figuresText(evaluation), isBest ? " (best)" : "", ", ",
               secondsText(seconds(evaluation.wall))));
    record_.evaluations.push_back(std::move(evaluation));
  }
  if (world != nullptr) decided = world->fromFirst(decided);
  const auto said = split(decided, " ");
  isBest_ = said.at(0) == "1" && isFirst(world), reached_ = reached_ || said.at(1) == "1";
  if (&evaluator != options_.during) return;
  rate_.evaluated(numberIn<double>(said.at(2)).value());
  options_.rateFactor->set(rate_.factor());
}

void TrainingRun::save(ReplicaSet::Member& member, int64_t step, bool isLast) {
  const Nanos began = now();
  if (member.index() == 0) options_.watch->enter(savingPhase);
  member.settle();
  member.synchronize();
  member.barrier();
  state_.take(member, step);
  if (member.index() != 0) return;
  if (options_.keeper != nullptr) {
    options_.keeper->save(std::move(state_.taken()), record_, rate_.state());
    if (isLast) options_.keeper->wait();
    record_.checkpoints = options_.keeper->saved();
  }
  hasCheckpoint_ = true;
  lastEpoch(step).saving += now() - began;
}

void TrainingRun::report(int64_t step, const Part& part) {
  const Nanos time = now();
  if (!progress_ || time - reported_ < reportInterval) return;
  reported_ = time;
  const double perStep = seconds(time - part.began) / static_cast<double>(step - part.begin);
  progress_({.phase = Phase::training,
             .step = step,
             .steps = options_.course.steps(),
             .imagesPerSecond = static_cast<double>(options_.plan->globalBatch) / perStep,
             .secondsLeft = perStep * static_cast<double>(options_.course.steps() - step)});
}

void TrainingRun::say(std::string line) const {
  if (progress_) progress_({.phase = Phase::training, .line = std::move(line)});
}

void TrainingRun::fill(RunRecord& record) const {
  const MutexLock lock(mutex_);
  record.startup = startup_;
  record.warmup = {.steps = 0, .wall = {}, .steady = true};
  for (const Part& part : kept_) {
    record.window += part.ended - part.began;
    record.measuredSteps += part.end - part.begin;
    record.steps.insert(record.steps.end(), part.samples.begin(), part.samples.end());
  }
  sortByReplica(record.steps);
  record.losses = losses_.all();
  if (std::ssize(record.losses) > TrainingRecord::mostLosses) record.losses.resize(TrainingRecord::mostLosses);
  fillOrigin(origin_.get(), record.placement);
  if (lossScale_) record.skippedSteps = lossScale_->skipped, record.lossScale = lossScale_->scale;
  record.training = record_;
}

}  // namespace tandem
