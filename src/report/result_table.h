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

/// A row of a run that is not ok has only the option cells; `failure` stands in place of the others.
struct TableRow {
  std::vector<std::string> cells;
  std::string failure;
};

/// What the table formats show, as text: row number, the options that differ, metrics, result; and the caveats.
struct ResultTable {
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
  std::vector<std::string> notes;  ///< "rows 1, 3: not steady: ..."
};

ResultTable buildTable(std::span<const RunRecord> records);

}  // namespace tandem
