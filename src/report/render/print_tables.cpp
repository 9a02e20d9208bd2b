#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/analysis/csv_table.h"
#include "report/render/builtin_renderers.h"
#include "report/render/shown_table.h"

namespace tandem {
namespace {

void printCells(const ResultTable& table, std::ostream& out) {
  const auto line = [&](const std::string& row, const std::string& column, const std::string& value) {
    out << csvField(table.title) << ',' << csvField(row) << ',' << csvField(column) << ',' << csvField(value) << '\n';
  };
  for (const TableRow& row : table.rows) {
    const std::string name = join(std::span(row.cells).first(std::min(table.labels, row.cells.size())), " ");
    for (size_t i = table.labels; i < row.cells.size(); ++i) line(name, headingOf(table.columns[i]), row.cells[i]);
    if (!row.failure.empty()) line(name, headingOf(table.columns.back()), row.failure);
  }
  for (const std::string& note : table.notes) line("", "", "note: " + note);
}

void printList(const ResultTable& table, std::ostream& out) {
  const auto line = [&](size_t count, const auto& fieldAt) {
    for (size_t i = 0; i < count; ++i) out << (i > 0 ? "," : "") << csvField(fieldAt(i));
    out << '\n';
  };
  line(table.columns.size(), [&](size_t i) { return table.columns[i].heading; });
  for (const TableRow& row : table.rows) {
    line(row.cells.size(), [&](size_t i) { return row.cells[i]; });
  }
}

}  // namespace

void printCsv(std::span<const ResultTable> tables, std::ostream& out) {
  if (tables.size() == 1 && tables.front().labels == 0) return printList(shownTable(tables.front()), out);
  out << "table,row,column,value\n";
  for (const ResultTable& table : tables) printCells(shownTable(table), out);
}

void printJson(std::span<const ResultTable> tables, std::ostream& out) {
  auto array = nlohmann::ordered_json::array();
  for (const ResultTable& table : tables) {
    nlohmann::ordered_json object{{"title", table.title}};
    auto& columns = object["columns"] = nlohmann::ordered_json::array();
    for (const TableColumn& column : table.columns) columns.push_back(headingOf(column));
    auto& rows = object["rows"] = nlohmann::ordered_json::array();
    for (const TableRow& row : table.rows) {
      rows.push_back(row.cells);
      if (!row.failure.empty()) rows.back().push_back(row.failure);
    }
    object["notes"] = table.notes;
    array.push_back(std::move(object));
  }
  out << array.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

}  // namespace tandem
