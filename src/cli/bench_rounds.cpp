#include "cli/bench_rounds.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/text.h"
#include "config/repeats.h"
#include "measure/validity/shortcoming.h"
#include "report/analysis/verdict.h"

namespace tandem {
namespace {

constexpr size_t fewestCounted = 2;  // runs without which a point cannot be compared

/// The points that go on: all but those of which a run failed or was skipped.
std::vector<size_t> alive(size_t points, std::span<const RunRecord> records, std::span<const size_t> pointOf) {
  std::vector<size_t> found(points);
  std::iota(found.begin(), found.end(), size_t{0});
  for (size_t i = 0; i < records.size(); ++i) {
    if (records[i].outcome.kind != OutcomeKind::ok) std::erase(found, pointOf[i]);
  }
  return found;
}

}  // namespace

double measuredSeconds(std::span<const RunRecord> records) {
  Nanos sum{};
  for (const RunRecord& record : records) sum += record.warmup.wall + record.window;
  return seconds(sum);
}

std::vector<size_t> BenchRounds::undecided(std::span<const RunRecord> records, std::span<const size_t> pointOf) const {
  std::vector<size_t> counted(options_.points);
  for (size_t i = 0; i < records.size(); ++i) counted[pointOf[i]] += shortcoming(records[i]).empty() ? 1 : 0;
  std::set<size_t> points;
  for (size_t i = 0; i < records.size(); ++i) {
    const bool unknown = records[i].outcome.kind == OutcomeKind::ok && counted[pointOf[i]] < fewestCounted;
    if (unknown) points.insert(pointOf[i]);
  }
  const bool someUnknown = !points.empty();  // they are compared with those that lead, in the same rounds
  for (const Verdict& verdict : verdictsOn(records)) {
    if (verdict.leaders.size() < 2 && !someUnknown) continue;
    for (const RunRecord* leader : verdict.leaders)
      points.insert(pointOf[static_cast<size_t>(leader - records.data())]);
  }
  return {points.begin(), points.end()};
}

std::vector<size_t> BenchRounds::shuffled(std::vector<size_t> points) {
  if (round_ > 0) std::ranges::shuffle(points, random_);
  ++round_;
  return points;
}

std::vector<size_t> BenchRounds::next(std::span<const RunRecord> records, std::span<const size_t> pointOf) {
  const bool automatic = options_.repeats == Config::automaticRepeats;
  std::vector<size_t> points = alive(options_.points, records, pointOf);
  if (points.empty()) return {};
  if (round_ < fewestRepeats(options_.repeats)) return shuffled(std::move(points));
  if (!automatic || points.size() < 2) return {};
  const std::vector<size_t> close = undecided(records, pointOf);
  std::erase_if(points, [&](size_t point) { return !std::ranges::binary_search(close, point); });
  if (points.empty()) {
    ending_ = concat("told apart after ", round_, " rounds");
  } else if (round_ >= mostAutoRounds) {
    ending_ = concat("not told apart after ", round_, " rounds, the most");
  } else if (measuredSeconds(records) >= options_.budgetSeconds) {
    ending_ = concat("not told apart after ", round_, " rounds, when the budgets were spent");
  } else {
    return shuffled(std::move(points));
  }
  return {};
}

int64_t BenchRounds::leastRounds() const { return std::max(fewestRepeats(options_.repeats), round_); }

std::string BenchRounds::title() const {
  return concat(round_, " of ", leastRounds(), options_.repeats == Config::automaticRepeats ? " or more" : "");
}

}  // namespace tandem
