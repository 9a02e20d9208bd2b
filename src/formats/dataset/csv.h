#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/io/result.h"

namespace tandem {

struct CsvLimits {
  uint64_t rowBytes = 1 << 20;
  size_t columns = 4096;
};

/// A table of text, the first row of which names the columns.
struct Csv {
  struct Row {
    int64_t line = 0;  ///< of the file, from 1, on which it begins
    std::vector<std::string> cells;
  };
  std::vector<std::string> columns;
  std::vector<Row> rows;  ///< each with as many cells as there are columns
};

/// Parses RFC 4180: cells between commas, or in double quotes, inside which commas and line ends are text and a quote
/// is doubled. Lines may end in CRLF. A byte-order mark is dropped, as are empty lines. Refuses NUL, text behind a
/// closing quote, a quote that is not closed, and rows longer or shorter than the first. The error text names the line.
Result<Csv> parseCsv(std::span<const uint8_t> bytes, const CsvLimits& limits = {});

/// A row that parseCsv() reads as these cells, with its line end. Cells are quoted where they must be.
std::string csvLine(std::span<const std::string> cells);

}  // namespace tandem
