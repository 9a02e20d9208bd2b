#pragma once

#include <ostream>
#include <span>

#include "report/tables/result_table.h"

namespace tandem {

/// Tables under their titles, aligned for a terminal, or in Markdown.
void printText(std::span<const ResultTable> tables, std::ostream& out);
void printMarkdown(std::span<const ResultTable> tables, std::ostream& out);

/// One line per cell: table, row (its labels), column, value, as in RFC 4180; then the notes, with row and column
/// empty.
void printCsv(std::span<const ResultTable> tables, std::ostream& out);

/// An array with an object per table: title, columns, rows, notes; all values are text as shown.
void printJson(std::span<const ResultTable> tables, std::ostream& out);

/// A page with a section per table, and the charts of each.
void printHtml(std::span<const ResultTable> tables, std::ostream& out);

}  // namespace tandem
