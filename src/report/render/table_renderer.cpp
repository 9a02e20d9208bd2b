#include <algorithm>
#include <vector>

#include "report/render/builtin_renderers.h"
#include "report/render/shown_table.h"
#include "report/tables/result_table.h"

namespace tandem {
namespace {

constexpr std::string_view gap = "  ";

/// Number of UTF-8 characters. Each is taken to be one column wide.
size_t widthOf(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, size_t width, bool rightAligned) {
  const std::string blanks(width - std::min(width, widthOf(text)), ' ');
  return rightAligned ? blanks + text : text + blanks;
}

class TextTable {
 public:
  TextTable(const ResultTable& table, std::ostream& out) : table_(shownTable(table)), out_(out) { measureWidths(); }

  void print() {
    if (!table_.title.empty()) out_ << table_.title << '\n';
    printHeading();
    for (const TableRow& row : table_.rows) printLine(row.cells, row.failure);
    for (const std::string& note : table_.notes) out_ << "note: " << note << '\n';
  }

 private:
  void measureWidths() {
    for (const TableColumn& column : table_.columns) {
      widths_.push_back(std::max(widthOf(column.heading), widthOf(column.unit)));
    }
    for (const TableRow& row : table_.rows) {
      for (size_t i = 0; i < row.cells.size(); ++i) widths_[i] = std::max(widths_[i], widthOf(row.cells[i]));
    }
  }

  void printHeading() {
    std::vector<std::string> headings, units;
    for (const TableColumn& column : table_.columns) {
      headings.push_back(column.heading);
      units.push_back(column.unit);
    }
    printLine(headings, "");
    if (!std::ranges::all_of(units, &std::string::empty)) printLine(units, "");
  }

  void printLine(const std::vector<std::string>& cells, const std::string& across) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += gap;
      line += padded(cells[i], widths_[i], table_.columns[i].rightAligned);
    }
    if (!across.empty()) line.append(gap).append(across);
    line.erase(line.find_last_not_of(' ') + 1);
    out_ << line << '\n';
  }

  const ResultTable table_;
  std::ostream& out_;
  std::vector<size_t> widths_;
};

class TableRenderer final : public Renderer {
 public:
  explicit TableRenderer(std::ostream& out) : out_(out) {}

  void add(const RunRecord& record) override { records_.push_back(record); }

  void end() override {
    if (records_.empty()) {
      out_ << "no records\n";
    } else {
      TextTable(buildTable(records_), out_).print();
    }
  }

 private:
  std::ostream& out_;
  std::vector<RunRecord> records_;
};

}  // namespace

void printText(std::span<const ResultTable> tables, std::ostream& out) {
  for (const ResultTable& table : tables) {
    if (&table != &tables.front()) out << '\n';
    TextTable(table, out).print();
  }
}

std::unique_ptr<Renderer> makeTableRenderer(std::ostream& out) { return std::make_unique<TableRenderer>(out); }

}  // namespace tandem
