#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/option.h"
#include "measure/record/record.h"
#include "report/analysis/figure_tables.h"

namespace tandem {

/// The runs of a report. A `row` is a row of the table of runs, from 1. The records must outlive it.
class ReportRuns {
 public:
  explicit ReportRuns(std::span<const RunRecord> records);

  std::span<const RunRecord> all() const { return records_; }

  /// Rows of the runs that a report shows one by one: the last twelve that finished.
  std::span<const size_t> shown() const { return shown_; }
  const RunRecord& at(size_t row) const { return records_[row - 1]; }

  /// The tables of the rates of all finished runs. Computed by the first call; not for several threads at once.
  const FigureTables& figures() const;

  /// "3: replicas=2 strategy=replicated".
  std::string nameOf(size_t row) const;

  /// The number of finished runs that shown() leaves out, and the command that shows them; empty if there are none.
  std::string leftOut() const;

 private:
  std::span<const RunRecord> records_;
  std::vector<const Option*> differing_;
  std::vector<size_t> shown_;
  size_t finished_ = 0;
  mutable std::optional<FigureTables> figures_;
};

}  // namespace tandem
