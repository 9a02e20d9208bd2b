#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/option.h"
#include "measure/record/record.h"
#include "report/analysis/figure_tables.h"
#include "report/analysis/run_groups.h"

namespace tandem {

/// The runs of a report, as groups of repeats. A `row` is a row of the table of runs, from 1, which shows a group. The
/// records must outlive it.
class ReportRuns {
 public:
  explicit ReportRuns(std::span<const RunRecord> records);

  std::span<const RunRecord> all() const { return records_; }

  std::span<const RunGroup> groups() const { return groups_; }

  /// Rows that a report shows one by one: the last twelve that have a finished run.
  std::span<const size_t> shown() const { return shown_; }
  /// The typical run of a row.
  const RunRecord& at(size_t row) const { return groups_[row - 1].typical(); }

  /// The tables of the rates of all finished runs. Computed by the first call; not for several threads at once.
  const FigureTables& figures() const;

  /// "replicas=2 strategy=replicated".
  std::string labelOf(size_t row) const;
  /// "3: replicas=2 strategy=replicated".
  std::string nameOf(size_t row) const;

  /// The number of rows that shown() leaves out, and the command that shows them; empty if there are none.
  std::string leftOut() const;

 private:
  std::span<const RunRecord> records_;
  std::vector<RunGroup> groups_;
  std::vector<const Option*> differing_;
  std::vector<size_t> shown_;
  size_t finished_ = 0;
  mutable std::optional<FigureTables> figures_;
};

}  // namespace tandem
