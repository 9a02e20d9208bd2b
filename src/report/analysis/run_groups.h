#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/statistics.h"
#include "config/option.h"
#include "measure/record/record.h"

namespace tandem {

/// log(images/s); empty if the run did not finish.
std::optional<double> logRate(const RunRecord& record);

/// Runs of one configuration, on one machine and by one build: repeats of one another. The records must outlive it.
struct RunGroup {
  /// REQUIRES: at least one run.
  explicit RunGroup(std::vector<const RunRecord*> runs);

  std::vector<const RunRecord*> runs;     ///< in the order of the records
  std::vector<const RunRecord*> counted;  ///< those whose rate counts (measure/validity/shortcoming.h)

  /// The runs that numbers are shown of: those that count; without any, those that finished.
  std::vector<const RunRecord*> shown() const;

  /// The run with the median rate of shown(); without any the first run.
  const RunRecord& typical() const;
};

/// The groups of the records, in the order of their first runs. A run that did not finish is in the first group of its
/// options, because what it would have used is not known.
std::vector<RunGroup> groupsOf(std::span<const RunRecord> records);

/// Groups whose rates may be ranked together: the same images through the same network, on one machine and by one
/// build. Options whose variation is less than `fixed` may differ.
std::vector<std::vector<RunGroup>> byWork(std::vector<RunGroup> groups, Variation fixed = Variation::rounding);

/// A text that is equal for runs that agree in machine and build, and in every axis option but those of `except`.
std::string optionsKey(const RunRecord& record, std::span<const std::string_view> except = {});

/// log(images/s) of the runs that count. The error is that between the runs, so it is empty for fewer than two.
std::optional<Estimate> logRateOf(const RunGroup& group);

/// log(rate of a / rate of b).
struct LogRatio {
  Estimate estimate;
  size_t rounds = 0;     ///< that both were measured in; 0: their runs did not take turns
  size_t looks() const;  ///< how often bench may have looked at it: after each round from the third on
};

/// If both have runs that count in the same rounds of a sweep, the mean over those rounds, in which a drift cancels.
/// Else the difference of the means, by Welch's rule. Empty if neither has two or more values.
std::optional<LogRatio> ratioOf(const RunGroup& a, const RunGroup& b);

/// Standard deviation of log(images/s) between runs of one group, pooled over the groups. Empty without repeats.
std::optional<double> spreadOfRepeats(std::span<const RunGroup> groups);

/// "runs of one configuration differed by 4.1 % here": that spread, or that it is not known.
std::string differenceOfRunsText(std::optional<double> spread);

}  // namespace tandem
