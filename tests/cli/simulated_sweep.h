#pragma once

#include <algorithm>
#include <cmath>
#include <functional>

#include "cli/bench_rounds.h"
#include "config/repeats.h"
#include "measure/record_example.h"
#include "measure/simulated_machine.h"
#include "report/analysis/verdict.h"

namespace tandem {

/// A run of 5 steps of point `point`, which differs from the other points in its bucket size.
inline RunRecord runOf(size_t point, double imagesPerSecond) {
  RunRecord record = shortened(exampleRecord(1, "replicated", 100), 5);
  record.config.exchange.bucketMib = 1 + static_cast<double>(point);
  record.window = Nanos(std::llround(1e9 * 16 * 5 / imagesPerSecond));
  record.steps = exampleSteps(1, 5, 1e3 * seconds(record.window) / 5 - 1);
  record.losses.resize(static_cast<size_t>(record.warmup.steps) + 5);
  return record;
}

/// A sweep of bench without its processes: the rounds as they are, and runs from a function.
struct SimulatedSweep {
  std::vector<RunRecord> records;
  std::vector<size_t> pointOf;
  BenchRounds rounds;

  explicit SimulatedSweep(BenchRounds::Options options) : rounds(options) {}

  void run(const std::function<RunRecord(size_t)>& measured) {
    for (auto order = next(); !order.empty(); order = next()) {
      for (const size_t point : order) {
        records.push_back(measured(point));
        records.back().sweep = "sweep";
        records.back().round = rounds.round();
        pointOf.push_back(point);
      }
    }
  }

  std::vector<size_t> next() { return rounds.next(records, pointOf); }

  int64_t runsOf(size_t point) const { return std::ranges::count(pointOf, point); }
};

inline BenchRounds::Options automatic(size_t points, double budgetSeconds = 1e6, uint64_t seed = 1) {
  return {.points = points, .repeats = Config::automaticRepeats, .budgetSeconds = budgetSeconds, .seed = seed};
}

/// Noise of `spread` between runs, of whose variance four fifths are drift.
inline Noise noiseOf(double spread) { return {std::sqrt(0.8) * spread, std::sqrt(0.2) * spread}; }

/// The sweep of points of these speeds that the seed makes, with automatic repeats.
inline SimulatedSweep noisySweep(uint64_t seed, double spread, const std::vector<double>& speeds) {
  SimulatedMachine machine(seed, noiseOf(spread));
  SimulatedSweep sweep(automatic(speeds.size(), 1e6, seed));
  sweep.run([&](size_t point) { return runOf(point, machine.rate(speeds[point])); });
  return sweep;
}

/// The points that may be the fastest by the verdict.
inline std::vector<size_t> leadersOf(const SimulatedSweep& sweep) {
  std::vector<size_t> points;
  const Verdict verdict = verdictsOn(sweep.records).front();
  for (const RunRecord* leader : verdict.leaders) {
    points.push_back(sweep.pointOf[static_cast<size_t>(leader - sweep.records.data())]);
  }
  return points;
}

/// The least and the most noise of some sweeps.
struct Spreads {
  double least, most;
};

/// How many of `sweeps` sweeps of points with these speeds exclude one that is the fastest. The noise grows from sweep
/// to sweep.
inline int64_t wrongOf(int64_t sweeps, Spreads spreads, const std::vector<double>& speeds) {
  const double best = std::ranges::max(speeds);
  int64_t wrong = 0;
  for (int64_t i = 0; i < sweeps; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(sweeps);
    const double spread = spreads.least + share * (spreads.most - spreads.least);
    const auto leaders = leadersOf(noisySweep(static_cast<uint64_t>(i), spread, speeds));
    bool missing = false;
    for (size_t point = 0; point < speeds.size(); ++point) {
      missing = missing || (speeds[point] == best && std::ranges::find(leaders, point) == leaders.end());
    }
    wrong += missing ? 1 : 0;
  }
  return wrong;
}

/// How many of `sweeps` sweeps of a point and one at `share` of its speed find the first one the fastest.
inline int64_t foundOf(int64_t sweeps, double spread, double share) {
  int64_t found = 0;
  for (int64_t i = 0; i < sweeps; ++i) {
    found += leadersOf(noisySweep(static_cast<uint64_t>(i), spread, {share, 1})) == std::vector<size_t>{1} ? 1 : 0;
  }
  return found;
}

}  // namespace tandem
