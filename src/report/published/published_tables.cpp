#include "report/published/published_tables.h"

#include <algorithm>
#include <array>

#include "base/catalog.h"
#include "base/text.h"
#include "report/published/published.h"

namespace tandem {
namespace {

template <class Value>
struct Named {
  std::string_view name;
  Value value;
};
template <class Value>
Named(std::string_view, Value) -> Named<Value>;

constexpr std::array quantities{Named{"rate", Quantity::rate}, Named{"speedup", Quantity::speedup},
                                Named{"efficiency", Quantity::efficiency}, Named{"clock", Quantity::clock}};
constexpr std::array forms{Named{"figure", CellForm::figure}, Named{"factor", CellForm::factor},
                           Named{"percent", CellForm::percent}};
constexpr std::array medianKinds{Named{"", Medians::none}, Named{"columns", Medians::columns},
                                 Named{"overall", Medians::overall}};

template <class Value, size_t count>
Value named(const std::array<Named<Value>, count>& values, std::string_view name) {
  return find(std::span<const Named<Value>>(values), name, "word in data/tables.csv").value;
}

std::vector<std::string> words(const std::string& text) {
  return text.empty() ? std::vector<std::string>{} : split(text, " ");
}

/// Parses "year=2017;model=resnet50".
Facts factsIn(const std::string& text) {
  Facts facts;
  if (text.empty()) return facts;
  for (const std::string& part : split(text, ";")) {
    const size_t equals = part.find('=');
    check(equals != std::string::npos, "data/tables.csv: facts are written name=value");
    facts[part.substr(0, equals)] = part.substr(equals + 1);
  }
  return facts;
}

std::vector<PivotTable> readTables() {
  std::vector<PivotTable> tables;
  for (const CsvTable::Row& row : dataTable("tables").rows) {
    const auto field = [&](size_t i) -> const std::string& { return row.fields.at(i); };
    tables.push_back({.name = field(0),
                      .title = field(1),
                      .figures = field(2),
                      .where = factsIn(field(3)),
                      .rows = words(field(4)),
                      .columns = words(field(5)),
                      .quantity = named(quantities, field(6)),
                      .numerator = factsIn(field(7)),
                      .denominator = factsIn(field(8)),
                      .form = named(forms, field(9)),
                      .medians = named(medianKinds, field(10))});
  }
  return tables;
}

std::string cellAt(const ResultTable& table, const Remark& remark) {
  for (const TableRow& row : table.rows) {
    if (join(std::span(row.cells).first(table.labels), " ") != remark.row) continue;
    for (size_t i = table.labels; i < row.cells.size(); ++i) {
      if (table.columns[i].heading == remark.column) return row.cells[i];
    }
  }
  throw InternalError(
      concat("data/remarks.csv: ", remark.table, " has no cell '", remark.row, "', '", remark.column, "'"));
}

void addRemarks(const PivotTable& spec, ResultTable& table) {
  for (const Remark& remark : publishedRemarks()) {
    if (remark.table != spec.name) continue;
    if (remark.row.empty()) {
      table.notes.push_back(remark.text);
    } else {
      table.notes.push_back(concat(remark.row, ", ", remark.column, ": ", cellAt(table, remark), "; ", remark.text));
    }
  }
}

}  // namespace

std::span<const PivotTable> publishedTables() {
  static const std::vector<PivotTable> tables = readTables();
  return tables;
}

std::vector<Remark> publishedRemarks() {
  std::vector<Remark> found;
  for (const CsvTable::Row& row : dataTable("remarks").rows) {
    const auto& fields = row.fields;
    found.push_back({fields.at(0), fields.at(1), fields.at(2), fields.at(3), fields.at(4)});
  }
  return found;
}

std::vector<ResultTable> recomputedPublishedTables(const DataPointsOf& dataPointsOf) {
  std::vector<ResultTable> results;
  for (const PivotTable& spec : publishedTables()) {
    results.push_back(gridTable(spec, gridOf(spec, dataPointsOf(spec.figures))));
    addRemarks(spec, results.back());
  }
  results.push_back(sheetObservations(dataPointsOf));
  return results;
}

}  // namespace tandem
