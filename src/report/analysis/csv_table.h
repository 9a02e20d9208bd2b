#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

/// A table read from CSV: a heading, then rows with the same number of fields.
struct CsvTable {
  struct Row {
    int64_t line;  ///< line in the file, from 1
    std::vector<std::string> fields;
  };
  std::vector<std::string> columns;
  std::vector<Row> rows;
};

/// Reads RFC 4180 text. Quoted fields may hold commas, line ends and doubled quotes. Lines end with LF or CRLF. A byte
/// order mark and blank lines are skipped.
/// Throws DataError, which names `where` and the line, for a NUL, an unclosed quote, and a quote within a field. Throws
/// it for an empty or repeated heading, and for a row with another number of fields.
CsvTable parseCsv(std::string_view text, const std::string& where);

/// A field as CSV, quoted if necessary.
std::string csvField(const std::string& text);

}  // namespace tandem
