#include "formats/dataset/csv.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace tandem {
namespace {

constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";

class CsvParser {
 public:
  CsvParser(std::string_view text, const CsvLimits& limits) : text_(text), limits_(limits) {
    if (text_.starts_with(byteOrderMark)) at_ = byteOrderMark.size();
  }

  Result<Csv> parse() {
    Csv table;
    bool hasColumns = false;
    while (at_ < text_.size()) {
      Csv::Row row;
      const size_t begin = at_;
      if (auto fault = readRow(row)) return *fault;
      if (row.cells.size() == 1 && row.cells[0].empty()) continue;
      if (hasColumns && row.cells.size() != table.columns.size()) {
        return parseError(begin, "line ", row.line, " has ", row.cells.size(), " cells, the first line ",
                          table.columns.size(), "; all must have as many");
      }
      if (hasColumns) {
        table.rows.push_back(std::move(row));
      } else {
        table.columns = std::move(row.cells), hasColumns = true;
      }
    }
    if (!hasColumns) return parseError(0, "it has no line; the first must name the columns");
    return table;
  }

 private:
  std::optional<ParseError> readRow(Csv::Row& row) {
    row.line = line_, rowBegin_ = at_;
    do {
      if (row.cells.size() == limits_.columns) return fault("more than ", limits_.columns, " cells");
      if (auto wrong = readCell(row.cells.emplace_back())) return wrong;
    } while (took(','));
    if (took('\r') && !isAt('\n') && at_ < text_.size()) return fault("a carriage return within it");
    if (took('\n')) ++line_;
    return std::nullopt;
  }

  /// Ends before a comma, the end of the line or of the text.
  std::optional<ParseError> readCell(std::string& cell) {
    const bool quoted = took('"');
    for (; at_ < text_.size(); ++at_) {
      const char here = text_[at_];
      if (here == '\0') return fault("a NUL byte");
      if (at_ - rowBegin_ > limits_.rowBytes) return fault("more than ", limits_.rowBytes, " bytes");
      if (quoted ? here == '"' : here == ',' || here == '\n' || here == '\r') {
        const bool isText = quoted && at_ + 1 < text_.size() && text_[at_ + 1] == '"';
        if (!isText) break;
        ++at_;
      }
      if (here == '\n') ++line_;
      cell += text_[at_];
    }
    if (!quoted) return std::nullopt;
    if (!took('"')) return fault("a quote that is not closed");
    const bool ends = at_ == text_.size() || isAt(',') || isAt('\r') || isAt('\n');
    return ends ? std::nullopt : fault("text behind a closing quote");
  }

  bool isAt(char wanted) const { return at_ < text_.size() && text_[at_] == wanted; }

  bool took(char wanted) {
    const bool there = isAt(wanted);
    at_ += there ? 1 : 0;
    return there;
  }

  template <class... Parts>
  std::optional<ParseError> fault(const Parts&... parts) const {
    return parseError(at_, "line ", line_, " has ", parts...);
  }

  std::string_view text_;
  const CsvLimits limits_;
  size_t at_ = 0, rowBegin_ = 0;
  int64_t line_ = 1;
};

}  // namespace

Result<Csv> parseCsv(std::span<const uint8_t> bytes, const CsvLimits& limits) {
  return CsvParser({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, limits).parse();
}

std::string csvLine(std::span<const std::string> cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string& cell = cells[i];
    const bool quoted = cell.find_first_of(",\"\r\n") != std::string::npos;
    if (i > 0) line += ',';
    if (quoted) line += '"';
    for (const char c : cell) line.append(c == '"' ? 2 : 1, c);
    if (quoted) line += '"';
  }
  return line + '\n';
}

}  // namespace tandem
