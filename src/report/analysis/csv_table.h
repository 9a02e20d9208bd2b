#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

/// A table read from CSV: a heading, then rows of as many fields.
struct CsvTable {
  struct Row {
    int64_t line;  ///< where it starts, from 1
    std::vector<std::string> fields;
  };
  std::vector<std::string> columns;
  std::vector<Row> rows;
};

/// Reads RFC 4180 text: quoted fields may hold commas, line ends and doubled quotes; lines end with LF or CRLF; a byte
/// order mark is skipped, and so are blank lines. Throws DataError, naming `where` and the line, for a NUL, a quote
/// that is not closed or stands within a field, an empty or repeated heading, and a row with another number of fields.
CsvTable parseCsv(std::string_view text, const std::string& where);

/// A field as CSV holds it, quoted where it must be.
std::string csvField(const std::string& text);

/// The shortest text that reads back as the same number.
std::string shortest(double value);

}  // namespace tandem
