#include <vector>

#include "report/builtin_renderers.h"
#include "report/result_table.h"

namespace tandem {
namespace {

/// Text that neither ends a cell nor starts HTML.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '<') {
      safe += "&lt;";
    } else {
      if (c == '|' || c == '\\') safe += '\\';
      safe += c;
    }
  }
  return safe;
}

std::string headingText(const TableColumn& column) {
  return column.unit.empty() ? column.heading : column.heading + " (" + column.unit + ")";
}

class MarkdownRenderer final : public Renderer {
 public:
  explicit MarkdownRenderer(std::ostream& out) : out_(out) {}

  void add(const RunRecord& record) override { records_.push_back(record); }

  void end() override {
    if (records_.empty()) {
      out_ << "No records.\n";
      return;
    }
    const ResultTable table = buildTable(records_);
    std::vector<std::string> headings;
    for (const TableColumn& column : table.columns) headings.push_back(headingText(column));
    printLine(headings);
    for (const TableColumn& column : table.columns) out_ << (column.rightAligned ? "|---:" : "|---");
    out_ << "|\n";
    for (const TableRow& row : table.rows) printRow(row, table.columns.size());
    if (!table.notes.empty()) out_ << '\n';
    for (const std::string& note : table.notes) out_ << "- " << escaped(note) << '\n';
  }

 private:
  void printRow(const TableRow& row, size_t columns) {
    auto cells = row.cells;
    cells.resize(columns);
    if (!row.failure.empty()) cells.back() = row.failure;
    printLine(cells);
  }

  void printLine(const std::vector<std::string>& cells) {
    for (const std::string& cell : cells) out_ << "| " << escaped(cell) << (cell.empty() ? "" : " ");
    out_ << "|\n";
  }

  std::ostream& out_;
  std::vector<RunRecord> records_;
};

}  // namespace

std::unique_ptr<Renderer> makeMarkdownRenderer(std::ostream& out) { return std::make_unique<MarkdownRenderer>(out); }

}  // namespace tandem
