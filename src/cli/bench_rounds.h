#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "measure/record/record.h"

namespace tandem {

/// What a sweep measures, round by round. A round measures each of its points once, so that what changes over time
/// (heat, neighbours) meets all points alike. The first round keeps the order of the points, which is then that of the
/// stored records and of the rows; the others are shuffled.
///
/// With a number of repeats there are so many rounds. With Config::automaticRepeats there are three. Then each further
/// round measures the points that may still be the fastest (report/analysis/verdict.h): the leaders, and those that
/// were disturbed too often to be compared. It ends when there is one leader and no other, when the budgets of all
/// points are spent, or after mostAutoRounds. A point that failed or was skipped is measured no more.
class BenchRounds {
 public:
  struct Options {
    size_t points = 0;
    int64_t repeats = 1;       ///< Config::automaticRepeats: the results decide
    double budgetSeconds = 0;  ///< of all points together; automatic repeats
    uint64_t seed = 0;         ///< of the shuffling
  };

  explicit BenchRounds(Options options) : options_(options), random_(options.seed) {}

  /// The points of the next round, in the order of measurement; empty if the sweep is over. `pointOf` is the point of
  /// each record.
  std::vector<size_t> next(std::span<const RunRecord> records, std::span<const size_t> pointOf);

  int64_t round() const { return round_; }  ///< that next() returned last, from 1
  /// Why automatic repeats ended; empty before the end, and with a number of repeats.
  const std::string& ending() const { return ending_; }
  int64_t leastRounds() const;  ///< how many there are at least, as far as is known
  /// "2 of 3", "2 of 3 or more".
  std::string title() const;
  /// Whether there is one round only.
  bool single() const { return options_.repeats == 1; }

 private:
  std::vector<size_t> undecided(std::span<const RunRecord> records, std::span<const size_t> pointOf) const;
  std::vector<size_t> shuffled(std::vector<size_t> points);

  Options options_;
  std::mt19937_64 random_;
  int64_t round_ = 0;
  std::string ending_;
};

/// Seconds that the records took to measure: warm-up and window.
double measuredSeconds(std::span<const RunRecord> records);

}  // namespace tandem
