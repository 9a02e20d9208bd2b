#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "measure/record/record.h"
#include "report/tables/chart.h"

namespace tandem {

struct TableColumn {
  std::string heading, unit;  ///< unit: empty if the heading says it
  bool rightAligned;
  bool caveats = false;  ///< its cells say what casts doubt on a row's numbers
};

/// "step median (ms)".
std::string headingOf(const TableColumn& column);

/// A row. If its run is not ok, it has only the option cells, and `failure` replaces the others.
struct TableRow {
  std::vector<std::string> cells;
  std::string failure;
  bool caveat = false;  ///< a note below the table concerns a number in it
};

/// A picture beside a table.
struct TablePicture {
  std::string caption;
  std::vector<uint8_t> png;
};

/// A table as text with its caveats. All formats show it.
struct ResultTable {
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
  std::vector<std::string> notes;  ///< "rows 1, 3: not steady: ..."
  std::string title = {};
  size_t labels = 1;                        ///< number of leading columns that identify the row
  std::vector<Chart> charts = {};           ///< pictures of its numbers, for formats that have them
  std::vector<TablePicture> pictures = {};  ///< for the same formats
};

/// The table of a sweep, a row per group of repeats (report/analysis/run_groups.h): row number, the options that
/// differ, the number of runs, metrics, result. A metric is the median of the runs that count; without any, of those
/// that finished. The first "+-" is half the 95 % interval of the mean of the repeats; of one run, that of its steps.
/// The second is that of the speed-up.
ResultTable buildTable(std::span<const RunRecord> records);

/// Why a run has no number: "skipped: ...", "failed (numeric): ...".
std::string failureText(const Outcome& outcome);
/// "row 3", "rows 1, 4 to 9". REQUIRES: rising.
std::string rowsText(std::span<const size_t> rows);

/// Caveats on the rate of a finished run: "not steady, shared cores". Empty if there are none.
std::string briefCaveats(const RunRecord& record);

/// The caveats that forbid to compare the run's rate: all but that it is a profile.
std::string rateCaveats(const RunRecord& record);
/// The caveats as sentences, one note each.
std::vector<std::string> caveatTexts(const RunRecord& record);

}  // namespace tandem
