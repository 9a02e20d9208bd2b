#include "cli/bench_compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>

#include "base/text.h"
#include "cli/bench_run.h"
#include "config/repeats.h"
#include "measure/metrics/metric.h"
#include "measure/metrics/significance.h"
#include "measure/validity/consistency_checks.h"
#include "measure/validity/shortcoming.h"
#include "report/analysis/comparison.h"

namespace tandem {
namespace {

constexpr std::array sides{"A", "B", "B", "A"};

constexpr size_t mostDisturbedRounds = 3;   // in a row
constexpr int64_t fewestDisturbedRuns = 2;  // of such a round: single runs are disturbed on many machines

bool isA(size_t run) { return sides[run % sides.size()] == std::string_view("A"); }

std::vector<double> ratesOf(const std::vector<RunRecord>& records) {
  std::vector<double> rates;
  for (const RunRecord& record : records) rates.push_back(metric("images_per_s").of(record, nullptr).value());
  return rates;
}

/// "at most 50 rounds of four runs, 1000 s and start-ups". How long --steps take is not known before.
std::string longestText(const Config& config) {
  std::string rounds = concat("at most ", mostRounds, " rounds of four runs");
  if (config.measurement.steps > 0) return rounds;
  return concat(rounds, ", ", secondsText(static_cast<double>(mostRounds * sides.size()) * runBudget(config)),
                " and start-ups");
}

/// The total number of rounds that the spread of these finished rounds asks for.
size_t roundsWanted(const std::vector<RunRecord>& records) {
  if (records.size() < pilotRounds * sides.size()) return pilotRounds;
  return roundsNeeded(logRatiosOfRounds(ratesOf(records)));
}

bool counts(const RunRecord& record) { return isAccepted(record) && !isUnchecked(record); }

/// Why such a run does not count, and what to do.
std::string disturbanceOf(const RunRecord& record) {
  if (isAccepted(record)) return "were not checked, as their windows are under 1 s; raise --budget or --steps";
  return concat("are not valid: ", whyNotQuotable(record), "; end what disturbs them");
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

std::string lastingDisturbance(std::span<const RunRecord> records) {
  if (records.size() < mostDisturbedRounds * sides.size()) return "";
  auto rounds = records.last(mostDisturbedRounds * sides.size());
  const RunRecord* last = nullptr;
  for (; !rounds.empty(); rounds = rounds.subspan(sides.size())) {
    const auto round = rounds.first(sides.size());
    if (std::ranges::count(round, false, counts) < fewestDisturbedRuns) return "";
    last = &*std::ranges::find(round, false, counts);
  }
  return concat("--compare: given up after ", records.size(), " runs, which are stored: each of the last ",
                mostDisturbedRounds, " rounds has two runs or more that ", disturbanceOf(*last),
                " and compare again, or take them as they are by --allow-interference");
}

bool BenchRun::measureInTurns() {
  people() << longestText(points_.front().config) << "; Ctrl-C ends with the verdict on the rounds so far\n"
           << std::flush;
  size_t wanted = 0;
  while ((wanted = roundsWanted(records_)) > records_.size() / sides.size()) {
    while (records_.size() < wanted * sides.size()) {
      if (!measureTurn(wanted)) return false;
      if (records_.size() % sides.size() != 0) continue;
      printRound();
      disturbance_ = lastingDisturbance(records_);
      if (!disturbance_.empty()) return false;
    }
  }
  return true;
}

bool BenchRun::measureTurn(size_t roundsWanted) {
  if (PointRunner::stopRequested()) return false;
  const size_t run = records_.size(), point = isA(run) ? 0 : points_.size() - 1;
  const std::string side = sides[run % sides.size()];
  auto record = measure(points_[point],
                        concat('[', run + 1, '/', roundsWanted * sides.size(), "] ", side, ": ", points_[point].label));
  if (record.outcome.code == ExitCode::interrupted) return false;
  record.side = side;
  record.round = static_cast<int64_t>(run / sides.size()) + 1;
  return store(std::move(record), point).outcome.kind == OutcomeKind::ok;
}

void BenchRun::printRound() const {
  const auto ratios = logRatiosOfRounds(ratesOf(records_));
  people() << "round " << ratios.size() << " of " << roundsWanted(records_) << ": A / B "
           << fixed(std::exp(ratios.back()), 3);
  if (const auto all = estimateMean(ratios)) people() << "; so far " << textOf(significanceOf(*all));
  people() << '\n' << std::flush;
}

void BenchRun::showComparison() const {
  const auto tables = storedComparison("--compare", "FILE", records_);
  if (forPrograms_) {
    show();
    std::cerr << join(tables.back().notes, "\n") << '\n';
  } else {
    std::cout << '\n';
    format_.print(tables, std::cout);
  }
}

}  // namespace tandem
