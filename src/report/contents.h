#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/runs.h"
#include "report/tables/result_table.h"

namespace tandem {

/// A section of a report on runs. A section without tables is left out.
///
/// The HTML page shows all sections. `inText`, `afterBench` and `afterTraining` are the positions in the other forms of
/// a report, from 1; 0: the form does not show it. The forms are text and Markdown, the end of bench, which first shows
/// the runs, and the end of a training.
struct ReportSection {
  std::string_view id, title;
  std::string_view text;  ///< how to read it; only the page prints it
  std::vector<ResultTable> (*make)(const ReportRuns&);
  int inText = 0, afterBench = 0, afterTraining = 0;
  bool oneByOne = false;  ///< shows only the runs of ReportRuns::shown()

  /// Lines on the fastest run, which the ends of bench and of a training print instead of the tables. Null: they print
  /// the tables.
  std::vector<std::string> (*onFastest)(const RunRecord&) = nullptr;
};

/// All sections, in the order of the page.
std::span<const ReportSection> reportSections();

/// A form of a report: the member of ReportSection with its positions.
using ReportForm = int ReportSection::*;

/// The sections that `form` shows, in its order.
std::vector<const ReportSection*> sectionsOf(ReportForm form);

/// The tables of `section`; a table without a title has that of the section.
std::vector<ResultTable> titledTables(const ReportSection& section, const ReportRuns& runs);

}  // namespace tandem
