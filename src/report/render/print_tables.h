#pragma once

#include <ostream>
#include <span>

#include "report/tables/result_table.h"

namespace tandem {

/// Prints tables below their titles, aligned for a terminal, or in Markdown.
void printText(std::span<const ResultTable> tables, std::ostream& out);
void printMarkdown(std::span<const ResultTable> tables, std::ostream& out);

/// Prints one line per cell by RFC 4180: table, row (its labels), column, value. Notes follow with empty row and
/// column.
void printCsv(std::span<const ResultTable> tables, std::ostream& out);

/// Prints an array with an object per table: title, columns, rows, notes. All values are the texts that people see.
void printJson(std::span<const ResultTable> tables, std::ostream& out);

/// Prints a page with a section per table and the charts of each.
void printHtml(std::span<const ResultTable> tables, std::ostream& out);

}  // namespace tandem
