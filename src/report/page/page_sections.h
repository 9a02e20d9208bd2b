#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/option.h"
#include "measure/record/record.h"
#include "report/published/published_tables.h"
#include "report/tables/result_table.h"

namespace tandem {

/// The runs of a page. Numbers of rows are those of the table of runs, from 1.
class PageRuns {
 public:
  explicit PageRuns(std::span<const RunRecord> records);

  std::span<const RunRecord> all() const { return records_; }

  /// Rows of the runs that are shown one by one: the last twelve that finished.
  std::span<const size_t> shown() const { return shown_; }
  const RunRecord& at(size_t row) const { return records_[row - 1]; }

  const FigureTables& figures() const { return figures_; }

  /// "3: replicas=2 strategy=replicated".
  std::string nameOf(size_t row) const;

  /// Which runs shown() leaves out and how to see them; empty when none.
  std::string leftOut() const;

 private:
  std::span<const RunRecord> records_;
  std::vector<const Option*> differing_;
  std::vector<size_t> shown_;
  size_t finished_ = 0;
  FigureTables figures_;
};

/// A section of the page of runs. `make` gives its tables with their charts; without any the section is left out.
struct PageSection {
  std::string_view id, title;
  std::string_view text;  ///< how to read it
  std::vector<ResultTable> (*make)(const PageRuns&);
  bool oneByOne;  ///< of PageRuns::shown() only
};

/// In the order of the page.
std::span<const PageSection> pageSections();

/// Mean time of a step and its parts, a row per run.
std::vector<ResultTable> stepPartsTables(const PageRuns& runs);

/// A table per run: of each quantity and device the median in each phase; charts over time with the phases marked.
std::vector<ResultTable> telemetryTables(const PageRuns& runs);

/// Percentiles of the step times, a row per run, and their histograms.
std::vector<ResultTable> stepTimesTables(const PageRuns& runs);

}  // namespace tandem
