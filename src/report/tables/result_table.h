#pragma once

#include <span>
#include <string>
#include <vector>

#include "measure/record/record.h"
#include "report/tables/chart.h"

namespace tandem {

struct TableColumn {
  std::string heading, unit;  ///< unit empty where the heading says it
  bool rightAligned;
};

/// "step median (ms)".
std::string headingOf(const TableColumn& column);

/// A row of a run that is not ok has only the option cells; `failure` stands in place of the others.
struct TableRow {
  std::vector<std::string> cells;
  std::string failure;
  bool caveat = false;  ///< a number in it needs one of the notes
};

/// A table as text, as all formats show it, with its caveats.
struct ResultTable {
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
  std::vector<std::string> notes;  ///< "rows 1, 3: not steady: ..."
  std::string title = {};
  size_t labels = 1;               ///< leading columns that say which row it is
  std::vector<Chart> charts = {};  ///< its numbers as pictures, where a format has them
};

/// The table of a sweep: row number, the options that differ, metrics, result.
ResultTable buildTable(std::span<const RunRecord> records);

/// Why a run has no number: "skipped: ...", "failed (numeric): ...".
std::string failureText(const Outcome& outcome);
/// "row 3", "rows 1, 4 to 9". REQUIRES: rising.
std::string rowsText(std::span<const size_t> rows);

/// What must be known beside the rate of a finished run: "not steady, shared cores"; empty when nothing.
std::string briefCaveats(const RunRecord& record);

/// Those of them that forbid to compare the run's rate: all but that it is a profile.
std::string rateCaveats(const RunRecord& record);
/// The same in whole sentences, a note each.
std::vector<std::string> caveatTexts(const RunRecord& record);

}  // namespace tandem
