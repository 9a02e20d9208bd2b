#include "cli/bench_compare.h"

#include <algorithm>
#include <array>
#include <iostream>

#include "base/text.h"
#include "cli/bench_run.h"
#include "measure/metrics/metric.h"
#include "measure/metrics/significance.h"
#include "report/analysis/comparison.h"

namespace tandem {
namespace {

constexpr size_t mostRounds = 50;  // a limit for noisy machines, whose runs differ by some 10 %
constexpr std::array<bool, 4> isA{true, false, false, true};

std::vector<double> ratesOf(const std::vector<RunRecord>& records) {
  std::vector<double> rates;
  for (const RunRecord& record : records) rates.push_back(metric("images_per_s").of(record, nullptr).value());
  return rates;
}

/// The total number of rounds that the spread of these finished rounds asks for.
size_t roundsWanted(const std::vector<RunRecord>& records) {
  if (records.empty()) return pilotRounds;
  return std::min(mostRounds, roundsNeeded(logRatiosOfRounds(ratesOf(records))));
}

}  // namespace

void checkComparable(const std::vector<BenchPoint>& points) {
  if (points.size() > 2) {
    throw UsageError(
        concat("--compare takes one configuration, which is compared with itself, or two; the options make ",
               points.size(), "; give one option two values"));
  }
  for (const BenchPoint& point : points) {
    if (!point.plan) throw UsageError(point.refusal);
  }
  checkSameWork(points.front().config, points.back().config);
}

bool BenchRun::measureInTurns() {
  size_t wanted = 0;
  while ((wanted = roundsWanted(records_)) > records_.size() / isA.size()) {
    while (records_.size() < wanted * isA.size()) {
      if (PointRunner::stopRequested()) return false;
      const bool first = isA[records_.size() % isA.size()];
      BenchPoint& point = first ? points_.front() : points_.back();
      auto record = measure(
          point, concat('[', records_.size() + 1, '/', wanted * isA.size(), "] ", first ? "A: " : "B: ", point.label));
      if (record.outcome.code == ExitCode::interrupted) return false;
      if (store(std::move(record), point).outcome.kind != OutcomeKind::ok) return false;
    }
  }
  return true;
}

void BenchRun::showComparison() const {
  Side a{points_.front().label, {}}, b{points_.back().label, {}};
  for (size_t i = 0; i < records_.size(); ++i) (isA[i % isA.size()] ? a : b).runs.push_back(records_[i]);
  const auto tables = comparisonInTurns(a, b, logRatiosOfRounds(ratesOf(records_)));
  if (forPrograms_) {
    show();
    std::cerr << join(tables.back().notes, "\n") << '\n';
  } else {
    std::cout << '\n';
    format_.print(tables, std::cout);
  }
}

}  // namespace tandem
