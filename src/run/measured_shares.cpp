#include "run/measured_shares.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "comm/world.h"
#include "config/split.h"
#include "run/plan/replica_set_options.h"

namespace tandem {
namespace {

constexpr int trials = 4;
constexpr int64_t warmupSteps = 2, fewestSteps = 3;
constexpr double trialSeconds = 1;  // that each replica steps on, so that none computes beside idle ones

/// A plan whose replicas train each by itself, in this process alone.
RunPlan apart(RunPlan plan) {
  plan.world = nullptr;
  plan.setup.strategy = &*std::ranges::find(strategies(), Exchange::none, &StrategyEntry::exchange);
  plan.setup.lossPlacement = &*std::ranges::find(lossPlacements(), false, &LossPlacementEntry::gathered);
  return plan;
}

/// Time of a step, in seconds: the mean, because a device that is held back now and then has fast steps in between.
double stepSeconds(ReplicaSet::Member& member) {
  for (int64_t step = 0; step < warmupSteps; ++step) member.step();
  member.synchronize();
  member.barrier();
  const Nanos begin = now();
  int64_t steps = 0;
  while (steps < fewestSteps || seconds(now() - begin) < trialSeconds) {
    member.step();
    member.synchronize();
    ++steps;
  }
  return seconds(now() - begin) / static_cast<double>(steps);
}

/// Of each replica of this process.
std::vector<double> ownTimes(const RunPlan& plan, const KernelSelection& kernels, const TrainingData& data) {
  ReplicaSetOptions options = trainingOptions(apart(plan), kernels, data);
  options.recorder = nullptr;
  options.syncBatchNorm = false;
  std::vector<double> times(options.devices.size());
  ReplicaSet(options).run(
      [&](ReplicaSet::Member& member) { times[static_cast<size_t>(member.index())] = stepSeconds(member); });
  return times;
}

/// Of the replicas of all ranks.
std::vector<double> timesOfAll(World* world, const std::vector<double>& own) {
  if (world == nullptr) return own;
  std::vector<std::string> texts;
  for (const double time : own) texts.push_back(concat(std::llround(time * 1e9)));
  std::vector<double> all;
  for (const std::string& said : world->exchange(join(texts, " "))) {
    for (const std::string& text : split(said, " ")) {
      all.push_back(static_cast<double>(numberIn<int64_t>(text).value()) / 1e9);
    }
  }
  return all;
}

}  // namespace

std::vector<int64_t> sharesByRates(int64_t units, std::vector<int64_t> first, const StepTimes& timesOf) {
  std::vector<int64_t> best, next = std::move(first);
  double least = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const std::vector<double> times = timesOf(next);
    check(times.size() == next.size(), "a time for each share");
    const double slowest = std::ranges::max(times);
    if (best.empty() || slowest < least) best = next, least = slowest;
    std::vector<double> rates;
    for (size_t i = 0; i < times.size(); ++i) rates.push_back(static_cast<double>(next[i]) / times[i]);
    std::vector<int64_t> better = apportioned(units, rates);
    if (better == next) break;
    next = std::move(better);
  }
  return best;
}

std::vector<int64_t> measuredShares(const RunPlan& plan, const KernelSelection& kernels, const TrainingData& data,
                                    const std::function<void(int64_t done, int64_t all)>& progress) {
  if (plan.shares.size() == 1) return plan.shares;
  const int64_t unit = plan.config.step.accumulate;
  const auto scaled = [](std::vector<int64_t> values, const auto& scale) {
    for (int64_t& value : values) value = scale(value);
    return values;
  };
  const auto inImages = [&](const std::vector<int64_t>& units) {
    return scaled(units, [&](int64_t value) { return value * unit; });
  };
  int64_t done = 0;
  RunPlan trial = plan;
  const auto timesOf = [&](const std::vector<int64_t>& units) {
    progress(++done, trials);
    trial.shares = inImages(units);
    if (plan.world != nullptr) plan.world->exchange("at the shares");  // all compute at once
    return timesOfAll(plan.world, ownTimes(trial, kernels, data));
  };
  const auto first = scaled(plan.shares, [&](int64_t value) { return value / unit; });
  return inImages(sharesByRates(plan.globalBatch / unit, first, timesOf));
}

}  // namespace tandem
