#include "kernels/tuner.h"

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "base/statistics.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr double doesNotCount = -1;
constexpr double mayWin = 1.5;  // times the fastest of the first round
constexpr int repetitions = 5;

/// Fastest first, without those that do not count. The first candidate is preferred.
std::vector<size_t> bySpeed(const std::vector<double>& seconds) {
  std::vector<size_t> order;
  for (size_t i = 0; i < seconds.size(); ++i) {
    if (seconds[i] >= 0) order.push_back(i);
  }
  const auto weight = [&](size_t i) { return i == 0 ? seconds[i] : worthChanging * seconds[i]; };
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

std::vector<double> Tuner::measured(std::span<const TuningCandidate> candidates) const {
  std::vector<std::vector<double>> times(candidates.size());
  const auto works = [&](size_t i, const auto& attempt) {
    try {
      return attempt(candidates[i]);
    } catch (const std::exception&) {  // too little memory, or what the library refuses only when it runs
      times[i].clear();
      return false;
    }
  };
  const auto isRight = [](const TuningCandidate& candidate) { return !candidate.isRight || candidate.isRight(); };
  const auto addTime = [&](size_t i) {
    return works(i, [&](const TuningCandidate& candidate) {
      times[i].push_back(rule_.secondsOf(candidate.run));
      return true;
    });
  };
  Nanos begin = now();
  const auto isEnough = [&] { return seconds(now() - begin) >= rule_.enoughSeconds; };
  double least = 0;
  std::vector<size_t> running;
  for (size_t i = 0; i < candidates.size() && (running.empty() || !isEnough()); ++i) {
    if (!isReady(candidates[i]) || !addTime(i)) continue;
    times[i].clear();  // the first call chooses and loads kernels
    if (running.empty()) begin = now();
    if (!works(i, isRight) || !addTime(i)) continue;
    least = running.empty() ? times[i].front() : std::min(least, times[i].front());
    running.push_back(i);
  }
  std::erase_if(running, [&](size_t i) { return times[i].front() > mayWin * least; });
  for (int repetition = 1; repetition < repetitions && !isEnough(); ++repetition) {
    std::erase_if(running, [&](size_t i) { return !addTime(i); });
  }
  std::vector<double> medians;
  for (const auto& taken : times) medians.push_back(median(taken).value_or(doesNotCount));
  return medians;
}

Tuned Tuner::fastest(const std::string& operation, std::span<const TuningCandidate> candidates) {
  check(!candidates.empty(), "Tuner: something to choose from");
  Tuned tuned;
  for (const TuningCandidate& candidate : candidates) {
    const auto known = cache_.find(keyOf(operation, candidate));
    if (!known || known->size() != 1) break;
    tuned.seconds.push_back(known->front());
  }
  if (tuned.seconds.size() < candidates.size()) {
    fromCache_ = false;
    tuned.seconds = measured(candidates);
    for (size_t i = 0; i < candidates.size(); ++i) cache_.add(keyOf(operation, candidates[i]), {tuned.seconds[i]});
  }
  const std::vector<size_t> order = bySpeed(tuned.seconds);
  const auto chosen = std::ranges::find_if(order, [&](size_t i) { return isReady(candidates[i]); });
  if (chosen == order.end()) return tuned;
  tuned.index = *chosen;
  const double first = tuned.seconds.front(), best = tuned.seconds[tuned.index];
  if (first > 0 && best > 0) tuned.gain = first / best;
  return tuned;
}

}  // namespace tandem
