#include "autotune/tuner.h"

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr double doesNotCount = -1;

/// Runs a candidate, which selects and loads kernels, and checks its result.
bool serves(const TuningCandidate& candidate) try {
  candidate.run();
  return !candidate.isRight || candidate.isRight();
} catch (const std::exception&) {  // too little memory, or an error that the library reports only when it runs
  return false;
}

/// Indices of the valid candidates, fastest first. The first candidate is preferred.
std::vector<size_t> bySpeed(const std::vector<double>& seconds, double margin) {
  std::vector<size_t> order;
  for (size_t i = 0; i < seconds.size(); ++i) {
    if (seconds[i] >= 0) order.push_back(i);
  }
  const auto weight = [&](size_t i) { return i == 0 ? seconds[i] : margin * seconds[i]; };
  std::ranges::stable_sort(order, {}, weight);
  return order;
}

}  // namespace

std::string Tuner::keyOf(const std::string& operation, const TuningCandidate& candidate) const {
  return concat("engine | ", rule_.where, " | ", operation, " | workspace ", rule_.workspaceBytes >> 20, " MiB | ",
                candidate.name);
}

bool Tuner::isReady(const TuningCandidate& candidate) const {
  const std::optional<int64_t> bytes = candidate.prepare();
  return bytes && *bytes <= rule_.workspaceBytes;
}

std::vector<double> Tuner::sampleOf(const TuningCandidate& candidate) const try {
  return {rule_.secondsOf(candidate.run)};
} catch (const std::exception&) {
  return {};
}

double Tuner::enoughSeconds(double first) const {
  return std::clamp(callsOfSearch * first, rule_.leastSeconds, rule_.mostSeconds);
}

std::vector<Timing> Tuner::timed(std::span<const TuningCandidate> candidates) const {
  std::vector<Candidate> ways;
  for (const TuningCandidate& candidate : candidates) {
    ways.push_back({.sample = [this, &candidate] { return sampleOf(candidate); }});
  }
  Nanos spent{};               // on samples
  std::vector<double> firsts;  // times of the candidates that can run
  const auto secondsLeft = [&] { return enoughSeconds(firsts.front()) - seconds(spent); };
  const auto goesOn = [&] {
    return firsts.empty() || (std::ssize(firsts) < rule_.mostCandidates && secondsLeft() > 0);
  };
  for (size_t i = 0; i < candidates.size() && goesOn(); ++i) {
    if (!isReady(candidates[i]) || !serves(candidates[i])) continue;
    const Nanos begin = now();
    if (!ways[i].takeSample()) continue;
    spent += now() - begin;
    firsts.push_back(ways[i].samples.front().front());
  }
  if (firsts.empty()) return std::vector<Timing>(candidates.size(), {.numbers = {doesNotCount}});
  for (Candidate& way : ways) {
    way.eliminated =
        way.samples.empty() || way.samples.front().front() > eliminationFactor * *std::ranges::min_element(firsts);
  }
  timeInterleaved(ways, {.most = TimingRounds().most - 1, .enoughSeconds = secondsLeft()});  // the first round is done
  std::vector<Timing> medians;
  for (const Candidate& way : ways) {
    medians.push_back(
        {.numbers = {way.samples.empty() ? doesNotCount : way.medians().front()}, .spread = way.spread()});
  }
  return medians;
}

std::vector<double> Tuner::secondsOf(const std::string& operation, std::span<const TuningCandidate> candidates) {
  MeasuringJob job;
  job.isPlausible = [](size_t, const auto& numbers) { return numbers.front() == doesNotCount || areTimes(numbers); };
  job.timings = [&] {
    if (progress_) progress_(all_.jobs, 0);
    return timed(candidates);
  };
  for (const TuningCandidate& candidate : candidates) job.keys.push_back(keyOf(operation, candidate));
  const Measured measured = measureJobs({&job, 1}, time_, cache_, [this](const Timings&) { return total_; });
  all_.jobs += measured.jobs, all_.now += measured.now, all_.postponed += measured.postponed;
  all_.timings.insert(measured.timings.begin(), measured.timings.end());
  if (measured.postponed > 0) return std::vector(candidates.size(), doesNotCount);
  std::vector<double> seconds;
  for (const std::string& key : job.keys) seconds.push_back(measured.timings.at(key).numbers.front());
  return seconds;
}

Tuned Tuner::fastest(const std::string& operation, std::span<const TuningCandidate> candidates) {
  check(!candidates.empty(), "Tuner: something to choose from");
  Tuned tuned;
  tuned.seconds = secondsOf(operation, candidates);
  const std::vector<size_t> order = bySpeed(tuned.seconds, rule_.margin);
  const auto chosen = std::ranges::find_if(order, [&](size_t i) { return isReady(candidates[i]); });
  if (chosen == order.end()) return tuned;
  tuned.index = *chosen;
  const double first = tuned.seconds.front(), best = tuned.seconds[tuned.index];
  if (first > 0 && best > 0) {
    tuned.gain = first / best;
    total_.byDefault += first, total_.chosen += best;
  }
  return tuned;
}

}  // namespace tandem
