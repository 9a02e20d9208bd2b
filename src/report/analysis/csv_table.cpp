#include "report/analysis/csv_table.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr std::string_view byteOrderMark = "\xef\xbb\xbf";

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& where) : text_(text), where_(where) {
    if (text_.starts_with(byteOrderMark)) text_.remove_prefix(byteOrderMark.size());
  }

  bool atEnd() const { return at_ == text_.size(); }

  CsvTable::Row row() {
    CsvTable::Row row{line_, {}};
    do {
      row.fields.push_back(field());
    } while (take(','));
    if (!atEnd() && !takeLineEnd()) fail("text after a closing quote");
    return row;
  }

  [[noreturn]] void fail(const std::string& rule) const { failAt(line_, rule); }
  [[noreturn]] void failAt(int64_t line, const std::string& rule) const {
    throw DataError(concat(where_, ", line ", line, ": ", rule));
  }

 private:
  bool take(char c) {
    if (atEnd() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool takeLineEnd() {
    const bool carriageReturn = text_.substr(at_, 2) == "\r\n";
    if (carriageReturn) ++at_;
    if (!take('\n')) return false;
    ++line_;
    return true;
  }

  std::string field() {
    if (take('"')) return quoted();
    std::string field;
    while (!atEnd() && text_[at_] != ',' && text_[at_] != '\n' && text_.substr(at_, 2) != "\r\n") {
      if (text_[at_] == '"') fail("a quote within a field; quote the whole field and double the quote");
      field += checked(text_[at_++]);
    }
    return field;
  }

  std::string quoted() {
    const int64_t start = line_;
    std::string field;
    while (!atEnd()) {
      const char c = checked(text_[at_++]);
      if (c == '"' && !take('"')) return field;
      if (c == '\n') ++line_;
      field += c;
    }
    failAt(start, "a quote that is opened here is never closed");
  }

  char checked(char c) const {
    if (c == '\0') fail("a NUL byte; this is no text file");
    return c;
  }

  std::string_view text_;
  const std::string& where_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

bool blank(const CsvTable::Row& row) { return row.fields.size() == 1 && row.fields.front().empty(); }

void checkHeading(const CsvReader& reader, const CsvTable::Row& heading) {
  auto sorted = heading.fields;
  std::ranges::sort(sorted);
  if (sorted.front().empty()) reader.failAt(heading.line, "a heading is empty; every column needs a name");
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) reader.failAt(heading.line, concat("two columns are called '", *twice, "'"));
}

}  // namespace

CsvTable parseCsv(std::string_view text, const std::string& where) {
  CsvReader reader(text, where);
  CsvTable table;
  while (!reader.atEnd()) {
    auto row = reader.row();
    if (blank(row)) continue;
    if (table.columns.empty()) {
      checkHeading(reader, row);
      table.columns = std::move(row.fields);
    } else if (row.fields.size() != table.columns.size()) {
      reader.failAt(row.line,
                    concat(row.fields.size(), " fields where the heading has ", table.columns.size(), " columns"));
    } else {
      table.rows.push_back(std::move(row));
    }
  }
  if (table.columns.empty()) reader.fail("no heading; the first line names the columns");
  return table;
}

std::string csvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace tandem
