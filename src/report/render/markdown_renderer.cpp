#include <vector>

#include "report/render/builtin_renderers.h"
#include "report/render/shown_table.h"
#include "report/tables/result_table.h"

namespace tandem {
namespace {

/// Escapes text so that it neither ends a cell nor starts HTML.
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

void printLine(const std::vector<std::string>& cells, std::ostream& out) {
  for (const std::string& cell : cells) out << "| " << escaped(cell) << (cell.empty() ? "" : " ");
  out << "|\n";
}

void printRow(const TableRow& row, size_t columns, std::ostream& out) {
  auto cells = row.cells;
  cells.resize(columns);
  if (!row.failure.empty()) cells.back() = row.failure;
  printLine(cells, out);
}

void printTable(const ResultTable& given, std::ostream& out) {
  const ResultTable table = shownTable(given);
  if (!table.title.empty()) out << "## " << escaped(table.title) << "\n\n";
  std::vector<std::string> headings;
  for (const TableColumn& column : table.columns) headings.push_back(headingOf(column));
  printLine(headings, out);
  for (const TableColumn& column : table.columns) out << (column.rightAligned ? "|---:" : "|---");
  out << "|\n";
  for (const TableRow& row : table.rows) printRow(row, table.columns.size(), out);
  if (!table.notes.empty()) out << '\n';
  for (const std::string& note : table.notes) out << "- " << escaped(note) << '\n';
}

class MarkdownRenderer final : public Renderer {
 public:
  explicit MarkdownRenderer(std::ostream& out) : out_(out) {}

  void add(const RunRecord& record) override { records_.push_back(record); }

  void end() override {
    if (records_.empty()) {
      out_ << "No records.\n";
    } else {
      printTable(buildTable(records_), out_);
    }
  }

 private:
  std::ostream& out_;
  std::vector<RunRecord> records_;
};

}  // namespace

void printMarkdown(std::span<const ResultTable> tables, std::ostream& out) {
  for (const ResultTable& table : tables) {
    if (&table != &tables.front()) out << '\n';
    printTable(table, out);
  }
}

std::unique_ptr<Renderer> makeMarkdownRenderer(std::ostream& out) { return std::make_unique<MarkdownRenderer>(out); }

}  // namespace tandem
