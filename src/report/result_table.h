#pragma once

#include <span>
#include <string>
#include <vector>

#include "measure/record.h"

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
};

/// A table as text, as all formats show it, with its caveats.
struct ResultTable {
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
  std::vector<std::string> notes;  ///< "rows 1, 3: not steady: ..."
  std::string title = {};
  size_t labels = 1;  ///< leading columns that say which row it is
};

/// The table of a sweep: row number, the options that differ, metrics, result.
ResultTable buildTable(std::span<const RunRecord> records);

/// Why a run has no number: "skipped: ...", "failed (numeric): ...".
std::string failureText(const Outcome& outcome);

/// What must be known beside the rate of a finished run: "not steady, shared cores"; empty when nothing.
std::string briefCaveats(const RunRecord& record);

/// Those of them that forbid to compare the run's rate: all but that it is a profile.
std::string rateCaveats(const RunRecord& record);

}  // namespace tandem
