#include "run/measured_run.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/statistics.h"
#include "base/text.h"
#include "comm/world.h"
#include "config/device_set.h"
#include "config/repeats.h"
#include "machine/cpu/host_facts.h"
#include "machine/process/process_clock.h"
#include "measure/validity/warmup_rule.h"
#include "run/point_parts.h"
#include "trace/flight_recorder.h"
#include "train/captured_step.h"
#include "train/weight_init.h"

namespace tandem {
namespace {

constexpr int64_t fewestSteps = 5;          // of a window sized by --budget: the least for a confidence interval
constexpr double largestWarmupShare = 0.4;  // of the run's budget, beyond which only `fairWarmup` steps are awaited
constexpr int64_t fairWarmup = 12;          // steps that the rule gets however long they take: twice what it needs
constexpr int64_t mostWarmupSteps = 200;
constexpr int64_t mostReserved = 100'000;
constexpr double manySkipped = 0.1;  // of all steps
constexpr Nanos reportInterval = std::chrono::milliseconds(100);

/// Number of warm-up steps that --warmup gives; empty for "auto".
std::optional<int64_t> askedWarmup(const Config& config) {
  if (config.measurement.warmup == Config::automatic) return std::nullopt;
  int64_t steps = 0;
  std::from_chars(config.measurement.warmup.data(), config.measurement.warmup.data() + config.measurement.warmup.size(),
                  steps);
  return steps;
}

int64_t inputBytes(const Batch& batch) { return static_cast<int64_t>(batch.images.nbytes() + batch.labels.nbytes()); }

int64_t gradientBytes(ReplicaSet::Member& member) {
  int64_t bytes = 0;
  const FlatBuffers& buffers = member.buffers();
  for (int i = 0; i < buffers.parameters(); ++i) {
    bytes += buffers.gradientBytes(buffers.slice(i));
  }
  return bytes;
}

LossScaleState furthestFallen(const LossScaleState& a, const LossScaleState& b) {
  return {std::min(a.scale, b.scale), std::max(a.skipped, b.skipped)};
}

std::string hex(uint64_t value) {
  char text[17] = {};
  std::to_chars(text, text + 16, value, 16);
  return text;
}

}  // namespace

MeasuredRun::MeasuredRun(MeasuredRunOptions options, ProgressCallback progress)
    : options_(std::move(options)),
      progress_(std::move(progress)),
      fewestWarmup_(std::max(options_.fewestWarmup, askedWarmup(options_.config).value_or(1))),
      drift_(options_.world, options_.config.placement.replicas, options_.servesAlone) {
  if (fewestWarmup_ == 0) endWarmUp(0, plannedSteps());
}

void MeasuredRun::body(ReplicaSet::Member& member) {
  member.barrier();
  if (member.index() == 0) {
    startup_ = sinceProcessStart();
    begin_ = now();
    options_.watch->warmUpBegins();
  }
  warmUp(member);
  measureWindow(member);
}

void MeasuredRun::warmUp(ReplicaSet::Member& member) {
  for (int64_t done = 0; warmupEnd_.load() != done; ++done) {
    const StepSample sample = warmUpStep(member, done);
    if (member.index() == 0) {
      member.synchronize();
      warmupSeconds_.push_back(seconds(sample.wall));
      decide(done + 1);
      report(true, done + 1);
    }
    member.barrier();
  }
}

// The tracer records the last eager step, because CUPTI cannot name the operations of kernels in a CUDA graph.
StepSample MeasuredRun::warmUpStep(ReplicaSet::Member& member, int64_t done) {
  DeviceTracer* tracer = options_.tracer;
  if (tracer == nullptr || done != CapturedStep::eagerSteps - 1) return member.step();
  if (member.index() == 0) tracer->eagerBegins();
  StepSample sample;
  {
    const TracedStep traced(member.index() == 0 ? tracer : nullptr, done);
    sample = member.step();
  }
  member.synchronize();
  member.barrier();
  if (member.index() == 0) tracer->eagerEnds();
  return sample;
}

bool MeasuredRun::suffices(int64_t done) {
  if (done < fewestWarmup_) return false;
  const Config& config = options_.config;
  if (askedWarmup(config)) return true;
  const double spent = seconds(now() - begin_);
  steady_ = isSteady(warmupSeconds_, WarmupRule{});
  const bool mayGoOn = done < fairWarmup || spent < largestWarmupShare * runBudget(config);
  return steady_ || done >= mostWarmupSteps || !mayGoOn;
}

// Rank 0 says how many steps follow; 0: warm-up goes on.
void MeasuredRun::decide(int64_t done) {
  World* const world = options_.world;
  const bool leads = isFirst(world);
  int64_t steps = 0;
  if (leads && suffices(done)) {
    warmupWall_ = now() - begin_;
    steps = plannedSteps();
  }
  if (world != nullptr) steps = wholeNumber(world->fromFirst(concat(steps))).value();
  if (steps == 0) return;
  if (!leads) warmupWall_ = now() - begin_;
  endWarmUp(done, steps);
}

void MeasuredRun::endWarmUp(int64_t done, int64_t steps) {
  steps_ = steps;
  if (options_.schedule != nullptr) options_.schedule->set(done);
  warmupEnd_.store(done);
}

int64_t MeasuredRun::plannedSteps() const {
  const Config& config = options_.config;
  if (config.measurement.steps > 0) return config.measurement.steps;
  const size_t recent = std::min<size_t>(warmupSeconds_.size(), 2 * WarmupRule{}.window);
  const auto step = median(std::span(warmupSeconds_).last(recent));
  if (!step) return fewestSteps;
  const double left = runBudget(config) - seconds(warmupWall_);
  return std::max(fewestSteps, static_cast<int64_t>(left / *step));
}

void MeasuredRun::measureWindow(ReplicaSet::Member& member) {
  std::vector<StepSample> samples;
  samples.reserve(static_cast<size_t>(std::min(steps_, mostReserved)));
  member.synchronize();  // every device is idle before the barrier, so the window holds only its own steps
  if (member.index() == 0) {
    options_.watch->windowBegins();
    if (options_.world != nullptr) options_.world->exchange("at the window");
  }
  member.barrier();
  for (int64_t i = 0; i < options_.waitingBatches; ++i) member.step();
  const Nanos begin = now();
  if (member.index() == 0) {
    windowBegin_ = begin;
    faults_ = -minorFaultsSoFar();
  }
  runSteps(member, samples);
  member.synchronize();
  const Nanos end = now();
  if (options_.servesAlone) member.finish();  // an asynchronous server works for others until they end
  member.barrier();
  if (member.index() == 0) {
    faults_ += minorFaultsSoFar();
    options_.watch->windowEnds();
    if (options_.tracer != nullptr) options_.tracer->stepsEnd(steps_);
  }
  if (options_.tracer != nullptr) member.barrier();  // stepsEnd() requires that no replica enqueues more work
  if (!options_.servesAlone) member.finish();
  checkDriftAtTheEnd(member);
  if (member.index() == 0) takeFingerprint(member);
  collect(member, samples);
  const MutexLock lock(mutex_);
  firstBegin_ = std::min(firstBegin_, begin);
  lastEnd_ = std::max(lastEnd_, end);
}

StepSample MeasuredRun::windowStep(ReplicaSet::Member& member, int64_t step) {
  DeviceTracer* tracer = options_.tracer;
  if (tracer == nullptr || !DeviceTracer::traces(step, steps_)) return member.step();
  tracer->stepsBegin();
  const TracedStep traced(tracer, step);
  return member.step();
}

void MeasuredRun::runSteps(ReplicaSet::Member& member, std::vector<StepSample>& samples) {
  Profiler* profiler = options_.profiler;
  const SpanRecording recorded(profiler == nullptr ? nullptr : &profiler->recorder(member.index()));
  const OpListening timed(profiler == nullptr ? nullptr : profiler->operations(member.index()));
  for (int64_t i = 0; i < steps_; ++i) {
    samples.push_back(windowStep(member, i));
    checkDrift(member, i);
    if (profiler != nullptr) profiler->stepDone(member.index(), i);
    if (member.index() == 0) report(false, i + 1);
  }
  if (profiler == nullptr || member.index() != 0) return;
  profiler->setBytes(inputBytes(member.batch()), options_.config.step.forwardOnly ? 0 : gradientBytes(member));
}

// Steps are counted from the first one of warm-up on, as the strategy counts them.
void MeasuredRun::checkDrift(ReplicaSet::Member& member, int64_t step) {
  const int64_t every = options_.config.exchange.checkDrift, done = warmupEnd_.load() + step + 1;
  if (every > 0 && done % every == 0) drift_.compare(member, done - 1, DriftCheck::Values::weights);
}

void MeasuredRun::checkDriftAtTheEnd(ReplicaSet::Member& member) {
  const bool wanted = options_.world != nullptr || options_.config.exchange.checkDrift > 0;
  if (!wanted || !options_.keepsWeightsEqual) return;
  drift_.compare(member, warmupEnd_.load() + steps_ - 1, DriftCheck::Values::masters);
}

void MeasuredRun::takeFingerprint(ReplicaSet::Member& member) {
  if (options_.world != nullptr) compareRanks();
  if (!options_.config.numerics.deterministic || options_.servesAlone) return;
  const uint64_t fingerprint = weightsFingerprint(*options_.graph, member.buffers());
  const MutexLock lock(mutex_);
  fingerprint_ = fingerprint;
}

// "HOST NANOSECONDS COLLECTIVES SIZES". Host names hold no blanks. Servers have collectives of their own.
void MeasuredRun::compareRanks() {
  const std::string host = hostName();
  const Nanos own = options_.watch->ownTime();
  const std::string collectives = threadFlight == nullptr ? "0 0" : threadFlight->collectives();
  const auto texts = options_.world->exchange(concat(host, ' ', own.count(), ' ', collectives));
  Nanos ofHost{};
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    const auto said = split(texts[rank], " ");
    if (said.at(0) == host) ofHost += Nanos(wholeNumber(said.at(1)).value());
    const std::string its = concat(said.at(2), ' ', said.at(3));
    const bool serves = servesAlone(options_.config, static_cast<int64_t>(rank));
    if (its == collectives || serves || options_.servesAlone) continue;
    throw InternalError(concat("ranks made different collectives: their number and the hash of their sizes are ", its,
                               " on rank ", rank, ", ", collectives, " on rank ", options_.world->place().rank));
  }
  options_.watch->ranksUsed(ofHost);
}

void MeasuredRun::collect(ReplicaSet::Member& member, const std::vector<StepSample>& samples) {
  const std::vector<double> losses = member.losses();
  const std::optional<LossScaleState> scale = member.lossScale();
  const MutexLock lock(mutex_);
  samples_.insert(samples_.end(), samples.begin(), samples.end());
  lossSums_.resize(losses.size());
  for (size_t i = 0; i < losses.size(); ++i) lossSums_[i] += lossWeight(member.index()) * losses[i];
  if (scale) lossScale_ = lossScale_ ? furthestFallen(*lossScale_, *scale) : *scale;
  ++members_;
  if (member.index() == 0) origin_ = member.batch().origin;
}

// A loss is the mean over a replica's images. With these weights the mean over the replicas is that over all images.
double MeasuredRun::lossWeight(int replica) const {
  return options_.lossWeights.empty() ? 1 : options_.lossWeights[static_cast<size_t>(replica)];
}

void MeasuredRun::report(bool warmingUp, int64_t step) {
  const Nanos time = now();
  if (!progress_ || time - reported_ < reportInterval) return;
  reported_ = time;
  Progress progress{
      .phase = warmingUp ? Phase::warmingUp : Phase::measuring, .step = step, .steps = warmingUp ? 0 : steps_};
  const double spent = seconds(time - (warmingUp ? begin_ : windowBegin_));
  progress.imagesPerSecond = static_cast<double>(step * options_.globalBatch) / spent;
  if (!warmingUp) progress.secondsLeft = spent / static_cast<double>(step) * static_cast<double>(steps_ - step);
  progress_(progress);
}

void MeasuredRun::fill(RunRecord& record) const {
  const MutexLock lock(mutex_);
  record.startup = startup_;
  record.warmup = {warmupEnd_.load(), warmupWall_, steady_};
  record.window = lastEnd_ - firstBegin_;
  record.measuredSteps = steps_;
  record.minorFaults = faults_;
  if (record.warmup.steps > askedWarmup(options_.config).value_or(record.warmup.steps)) {
    record.notes.push_back(concat("warm-up took ", record.warmup.steps,
                                  " steps, although --warmup=", options_.config.measurement.warmup,
                                  ": a profile begins when the step has been recorded"));
  }
  record.steps = samples_;
  sortByReplica(record.steps);
  if (drift_.times() > 1) {
    record.notes.push_back(
        concat("the weights of all replicas were compared ", drift_.times(), " times, and were equal"));
  }
  if (options_.profiler != nullptr && isFirst(options_.world)) options_.profiler->fill(record);
  if (options_.tracer != nullptr) options_.tracer->fill(record);
  fillOrigin(origin_.get(), record.placement);
  record.losses = lossSums_;
  for (double& loss : record.losses) loss /= members_;
  fillLossScale(record);
  if (fingerprint_) record.notes.push_back(concat("weights fnv1a64 ", hex(*fingerprint_)));
}

void MeasuredRun::fillLossScale(RunRecord& record) const {
  if (!lossScale_) return;
  record.skippedSteps = lossScale_->skipped;
  record.lossScale = lossScale_->scale;
  const auto steps = static_cast<double>(record.losses.size()), skipped = static_cast<double>(record.skippedSteps);
  if (skipped <= manySkipped * steps) return;
  record.notes.push_back(
      concat(record.skippedSteps, " of ", record.losses.size(),
             " steps updated nothing: their gradients overflowed, and the scale of the loss fell to ", record.lossScale,
             "; they count in the rate all the same"));
}

}  // namespace tandem
