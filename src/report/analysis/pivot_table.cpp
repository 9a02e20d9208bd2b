#include "report/analysis/pivot_table.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <sstream>

#include "base/error.h"
#include "base/statistics.h"
#include "base/text.h"
#include "report/analysis/csv_table.h"

namespace tandem {
namespace {

constexpr std::string_view placeOfParameters = "parameters_on";

Facts overridden(Facts facts, const Facts& by) {
  for (const auto& [name, value] : by) facts[name] = value;
  return facts;
}

std::optional<double> quotient(std::optional<double> numerator, std::optional<double> denominator) {
  if (!numerator || !denominator || !(*denominator > 0)) return std::nullopt;
  return *numerator / *denominator;
}

/// Computes quantities from one set of figures.
class Quantities {
 public:
  Quantities(const DataPoints& figures, std::string scale) : figures_(figures), scale_(std::move(scale)) {}

  std::optional<double> of(Quantity quantity, const Facts& facts) const {
    switch (quantity) {
      case Quantity::rate:
        return figures_.median("images_per_s", facts);
      case Quantity::speedup:
        return speedup(facts);
      case Quantity::efficiency:
        return quotient(speedup(facts), devices(facts));
      case Quantity::clock:
        return figures_.median("clock_ghz", facts);
    }
    throw InternalError("a quantity without a formula");
  }

  /// The logarithm of a quotient with its error; empty if the quantity is none, or a part has no repeats.
  std::optional<Estimate> logarithmOf(Quantity quantity, const Facts& facts) const {
    const auto rate = figures_.logarithm("images_per_s", facts);
    if (quantity == Quantity::rate) return rate;
    const bool ofRates = quantity == Quantity::speedup || quantity == Quantity::efficiency;
    const Facts one = overridden(facts, {{scale_, "1"}});
    if (!ofRates || !rate || one == facts) return std::nullopt;
    const auto base = figures_.logarithm("images_per_s", one);
    return base ? std::optional(difference(*rate, *base)) : std::nullopt;
  }

 private:
  std::optional<double> speedup(const Facts& facts) const {
    if (const auto efficiency = figures_.median("efficiency_percent", facts)) {
      const auto count = devices(facts);
      return count ? std::optional(*efficiency / 100 * *count) : std::nullopt;
    }
    if (const auto published = figures_.median("speedup", facts)) return published;
    return quotient(figures_.median("images_per_s", facts), baseline(facts));
  }

  /// Rate of one device. With one device, the place of the parameters makes no difference, so its figure is the
  /// baseline for every place.
  std::optional<double> baseline(const Facts& facts) const {
    Facts one = overridden(facts, {{scale_, "1"}});
    if (const auto same = figures_.median("images_per_s", one)) return same;
    one.erase(std::string(placeOfParameters));
    return figures_.median("images_per_s", one);
  }

  std::optional<double> devices(const Facts& facts) const {
    const auto found = facts.find(scale_);
    if (found == facts.end()) return std::nullopt;
    const double count = std::strtod(found->second.c_str(), nullptr);
    return count > 0 ? std::optional(count) : std::nullopt;
  }

  const DataPoints& figures_;
  std::string scale_;
};

Facts factsOf(const std::vector<std::string>& names, const std::vector<std::string>& values) {
  Facts facts;
  for (size_t i = 0; i < names.size(); ++i) facts[names[i]] = values[i];
  return facts;
}

/// An error text if a document prints both speed-up and efficiency and they contradict each other beyond rounding.
std::string disagreement(const DataPoints& figures, const Facts& facts, double speedup, const std::string& label) {
  const auto rows = figures.matching(facts);
  if (rows.size() != 1 || !rows.front()->contains("printed_speedup")) return "";
  const std::string& printed = rows.front()->at("printed_speedup");
  const size_t point = printed.find('.');
  const int decimals = point == std::string::npos ? 0 : static_cast<int>(printed.size() - point - 1);
  if (fixed(speedup, decimals) == printed) return "";
  return concat(label, ": the document prints ", printed, "x beside an efficiency of ",
                rows.front()->at("efficiency_percent"), "%, which is ", fixed(speedup, decimals), "x");
}

std::string whyEmpty(const DataPoints& figures, const Facts& facts) {
  const auto rows = figures.matching(facts);
  return rows.size() == 1 && rows.front()->contains("note") ? rows.front()->at("note") : "";
}

std::string labelOf(const std::vector<std::string>& row, const std::vector<std::string>& column) {
  return join(column).empty() ? join(row, " ") : concat(join(row, " "), ", ", join(column, " "));
}

struct CellOrder {
  const PivotTable& table;
  const DataPoints& figures;
  Quantities quantities;
};

/// The caveats of the figures behind a cell, each once. A figure may have several ("not valid, not steady").
std::string caveatsOf(const DataPoints& figures, std::span<const Facts> parts) {
  std::vector<std::string> found;
  for (const Facts& part : parts) {
    for (const Facts* row : figures.matching(part)) {
      const auto caveats = row->find(caveatColumn);
      if (caveats == row->end()) continue;
      for (std::string caveat : split(caveats->second, ",")) {
        caveat.erase(0, caveat.find_first_not_of(' '));
        if (std::ranges::find(found, caveat) == found.end()) found.push_back(caveat);
      }
    }
  }
  return join(found);
}

std::optional<double> halfWidthOf(const CellOrder& order, const Facts& above, const Facts* below) {
  const Quantity quantity = order.table.quantity;
  if (quantity == Quantity::rate && below == nullptr) return std::nullopt;
  auto logarithm = order.quantities.logarithmOf(quantity, above);
  if (logarithm && below != nullptr) {
    const auto other = order.quantities.logarithmOf(quantity, *below);
    logarithm = other ? std::optional(difference(*logarithm, *other)) : std::nullopt;
  }
  if (!logarithm) return std::nullopt;
  const Interval interval = intervalOf(*logarithm, 0.95);
  return 100 * std::expm1((interval.high - interval.low) / 2);
}

void addCell(const CellOrder& order, Grid& grid, size_t row, size_t column) {
  const PivotTable& table = order.table;
  Facts facts = overridden(table.where, factsOf(table.rows, grid.rows[row]));
  facts = overridden(facts, factsOf(table.columns, grid.columns[column]));
  const Facts above = overridden(facts, table.numerator);
  std::vector<Facts> parts{above};
  auto value = order.quantities.of(table.quantity, above);
  std::string remark;
  if (!value && table.form == CellForm::figure) remark = whyEmpty(order.figures, above);
  if (value && table.quantity == Quantity::speedup) {
    const auto note = disagreement(order.figures, above, *value, labelOf(grid.rows[row], grid.columns[column]));
    if (!note.empty()) grid.notes.push_back(note);
  }
  if (!table.denominator.empty()) {
    parts.push_back(overridden(facts, table.denominator));
    value = quotient(value, order.quantities.of(table.quantity, parts.back()));
  }
  const Facts* below = table.denominator.empty() ? nullptr : &parts[1];
  grid.halfWidths[row].push_back(value ? halfWidthOf(order, above, below) : std::nullopt);
  if (value && (table.quantity == Quantity::speedup || table.quantity == Quantity::efficiency)) {
    for (size_t i = parts.size(); i-- > 0;) parts.push_back(overridden(parts[i], {{table.scale, "1"}}));
  }
  grid.cells[row].push_back(value);
  grid.remarks[row].push_back(value ? caveatsOf(order.figures, parts) : remark);
}

void dropEmptyRows(Grid& grid) {
  for (size_t row = grid.rows.size(); row-- > 0;) {
    const bool used = std::ranges::any_of(grid.cells[row], [](const auto& cell) { return cell.has_value(); }) ||
                      std::ranges::any_of(grid.remarks[row], [](const auto& text) { return !text.empty(); });
    if (used) continue;
    const auto at = static_cast<std::ptrdiff_t>(row);
    grid.rows.erase(grid.rows.begin() + at);
    grid.cells.erase(grid.cells.begin() + at);
    grid.halfWidths.erase(grid.halfWidths.begin() + at);
    grid.remarks.erase(grid.remarks.begin() + at);
  }
}

std::string quantityName(const PivotTable& table) {
  if (!table.denominator.empty()) return table.form == CellForm::percent ? "share" : "ratio";
  switch (table.quantity) {
    case Quantity::rate:
      return "images/s";
    case Quantity::speedup:
      return "speed-up";
    case Quantity::efficiency:
      return "efficiency";
    case Quantity::clock:
      return "GHz";
  }
  throw InternalError("a quantity without a name");
}

TableRow medianRow(const PivotTable& table, const Grid& grid) {
  TableRow row{{"median"}, ""};
  row.cells.resize(table.rows.size());
  for (size_t column = 0; column < grid.columns.size(); ++column) {
    const auto middle = median(grid.values(column));
    row.cells.push_back(middle ? cellText(table.form, *middle) : "");
  }
  return row;
}

}  // namespace

std::vector<double> Grid::values() const {
  std::vector<double> all;
  for (size_t column = 0; column < columns.size(); ++column) std::ranges::copy(values(column), std::back_inserter(all));
  return all;
}

std::vector<double> Grid::values(size_t column) const {
  std::vector<double> found;
  for (const auto& row : cells) {
    if (row[column]) found.push_back(*row[column]);
  }
  return found;
}

Grid gridOf(const PivotTable& table, const DataPoints& figures) {
  const CellOrder order{table, figures, Quantities(figures, table.scale)};
  Grid grid;
  const Facts chosen = overridden(table.where, table.numerator);
  grid.rows = figures.tuples(table.rows, chosen);
  grid.columns = figures.tuples(table.columns, chosen);
  grid.cells.resize(grid.rows.size());
  grid.halfWidths.resize(grid.rows.size());
  grid.remarks.resize(grid.rows.size());
  for (size_t row = 0; row < grid.rows.size(); ++row) {
    for (size_t column = 0; column < grid.columns.size(); ++column) addCell(order, grid, row, column);
  }
  dropEmptyRows(grid);
  return grid;
}

std::string cellText(CellForm form, double value) {
  switch (form) {
    case CellForm::figure: {
      std::ostringstream text;  // a median may have more digits than any figure
      text << std::setprecision(7) << value;
      return text.str();
    }
    case CellForm::factor:
      return fixed(value, 2) + "x";
    case CellForm::percent:
      return fixed(100 * value, 2) + "%";
  }
  throw InternalError("a form of cell without a text");
}

ResultTable gridTable(const PivotTable& table, const Grid& grid) {
  ResultTable result{{}, {}, grid.notes, table.title, table.rows.size()};
  for (const std::string& fact : table.rows) result.columns.push_back({fact, "", false});
  for (const auto& column : grid.columns) {
    const std::string label = join(column, " ");
    result.columns.push_back({label.empty() ? quantityName(table) : label, "", true});
  }
  for (size_t i = 0; i < grid.rows.size(); ++i) {
    TableRow row{grid.rows[i], ""};
    for (size_t column = 0; column < grid.columns.size(); ++column) {
      const auto& cell = grid.cells[i][column];
      const std::string& remark = grid.remarks[i][column];
      const bool caveat = cell && !remark.empty();
      const auto& half = grid.halfWidths[i][column];
      const std::string interval = half ? concat(" +-", fixed(*half, 1), "%") : "";
      row.cells.push_back(cell ? concat(cellText(table.form, *cell), interval, caveat ? "*" : "") : remark);
      row.caveat = row.caveat || caveat;
      if (caveat) result.notes.push_back(concat("* ", labelOf(grid.rows[i], grid.columns[column]), ": ", remark));
    }
    result.rows.push_back(std::move(row));
  }
  if (table.medians == Medians::columns) result.rows.push_back(medianRow(table, grid));
  const auto middle = median(grid.values());
  if (table.medians == Medians::overall && middle) {
    result.notes.push_back("median of all cells: " + cellText(table.form, *middle));
  }
  return result;
}

}  // namespace tandem
