#include "report/analysis/figure_tables.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr std::array<std::string_view, 3> scales{"replicas", "devices", "gpus"};
constexpr std::array<std::string_view, 4> asides{"source", "year", "note", caveatColumn};

std::string scaleOf(const DataPoints& figures, const std::string& where) {
  if (!figures.has(measureColumns().front())) {
    throw DataError(concat(where, ": no column '", measureColumns().front(), "', the rate that tables are made of"));
  }
  for (const std::string_view name : scales) {
    if (figures.has(name)) return std::string(name);
  }
  throw DataError(concat(where, ": no column that counts devices; name it replicas, devices or gpus"));
}

/// Two facts say the same if their values correspond one to one.
bool sameFact(const DataPoints& figures, const std::string& one, const std::string& other) {
  const auto pairs = figures.tuples(std::array{one, other}, {}).size();
  return pairs == figures.tuples(std::array{one}, {}).size() && pairs == figures.tuples(std::array{other}, {}).size();
}

/// The facts in which the figures differ, without the number of devices.
std::vector<std::string> differingFacts(const DataPoints& figures, const std::string& scale) {
  std::vector<std::string> facts;
  for (const std::string& column : figures.columns) {
    const bool excluded = column == scale || std::ranges::find(measureColumns(), column) != measureColumns().end() ||
                          std::ranges::find(asides, column) != asides.end();
    if (excluded || figures.tuples(std::array{column}, {}).size() < 2) continue;
    if (std::ranges::none_of(facts, [&](const auto& fact) { return sameFact(figures, fact, column); })) {
      facts.push_back(column);
    }
  }
  return facts;
}

/// Rows are the facts, columns the numbers of devices. Without facts, the numbers of devices are the rows.
PivotTable laidOut(std::string title, const std::vector<std::string>& facts, const std::string& scale) {
  PivotTable table;
  table.title = std::move(title);
  table.scale = scale;
  table.rows = facts.empty() ? std::vector{scale} : facts;
  if (!facts.empty()) table.columns = {scale};
  table.medians = Medians::columns;
  return table;
}

class TableMaker {
 public:
  TableMaker(const DataPoints& figures, std::string scale) : figures_(figures), scale_(std::move(scale)) {}

  void addScaling(const std::vector<std::string>& facts) {
    add(tables_.scaling, laidOut("images/s by " + scale_, facts, scale_), scalingCharts);
    if (tables_.scaling.empty()) return;
    std::ranges::move(repeats(), std::back_inserter(tables_.scaling.back().notes));
    for (const auto& [title, quantity, form] :
         {std::tuple{"speed-up", Quantity::speedup, CellForm::factor},
          std::tuple{"efficiency against ideal (100%)", Quantity::efficiency, CellForm::percent}}) {
      auto table = laidOut(concat(title, " by ", scale_), facts, scale_);
      table.quantity = quantity;
      table.form = form;
      add(tables_.scaling, std::move(table), scalingCharts);
    }
  }

  void addComparisons(const std::string& fact, const std::vector<std::string>& others) {
    addSideBySide(fact, others);
    const auto values = figures_.tuples(std::array{fact}, {});
    for (size_t i = 1; i < values.size(); ++i) {
      for (const auto& [what, quantity] :
           {std::pair{"images/s", Quantity::rate}, std::pair{"speed-ups", Quantity::speedup}}) {
        const std::string &first = values.front().front(), &second = values[i].front();
        auto table = laidOut(concat("ratio of ", what, ", ", fact, ' ', first, " against ", second), others, scale_);
        table.quantity = quantity;
        table.form = CellForm::factor;
        table.numerator = {{fact, first}};
        table.denominator = {{fact, second}};
        add(tables_.ratios, std::move(table), nullptr);
      }
    }
  }

  FigureTables take() { return std::move(tables_); }

 private:
  using ChartsOf = std::vector<Chart> (*)(const PivotTable&, const Grid&);

  static constexpr size_t fewestWithMedian = 3;  // rows; of two a median says nothing

  void add(std::vector<ResultTable>& to, PivotTable table, ChartsOf chartsOf) {
    const Grid grid = gridOf(table, figures_);
    if (grid.rows.size() < fewestWithMedian) table.medians = Medians::none;
    if (grid.values().empty()) return;
    to.push_back(gridTable(table, grid));
    if (chartsOf != nullptr) to.back().charts = chartsOf(table, grid);
  }

  void addSideBySide(const std::string& fact, const std::vector<std::string>& others) {
    auto table = laidOut("images/s by " + fact, others, scale_);
    if (!others.empty()) table.rows.push_back(scale_);
    table.columns = {fact};
    table.medians = Medians::none;
    add(tables_.sideBySide, std::move(table), barCharts);
  }

  /// A note on figures that agree in every fact, which are shown as their median.
  std::vector<std::string> repeats() const {
    std::set<Facts> different;
    for (Facts row : figures_.rows) {
      for (const auto& measure : measureColumns()) row.erase(std::string(measure));
      row.erase(std::string(caveatColumn));
      different.insert(std::move(row));
    }
    const size_t repeated = figures_.rows.size() - different.size();
    if (repeated == 0) return {};
    return {concat("figures that agree in every fact are shown as their median: ", figures_.rows.size(), " figures in ",
                   different.size(), " cells")};
  }

  const DataPoints& figures_;
  std::string scale_;
  FigureTables tables_;
};

}  // namespace

FigureTables figureTablesOf(DataPoints figures, const std::string& where) {
  const std::string scale = scaleOf(figures, where);
  if (figures.rows.empty()) throw DataError(concat(where, ": no figures to make tables of"));
  for (const Facts& row : figures.rows) {
    const auto count = row.find(scale);
    if (count == row.end() || std::strtod(count->second.c_str(), nullptr) < 1) {
      throw DataError(concat(where, ": ", scale, " is '", count == row.end() ? "" : count->second,
                             "', expected a number of at least 1"));
    }
  }
  std::ranges::stable_sort(figures.rows, {},
                           [&](const Facts& row) { return std::strtod(row.at(scale).c_str(), nullptr); });
  auto facts = differingFacts(figures, scale);
  TableMaker maker(figures, scale);
  maker.addScaling(facts);
  std::stable_partition(facts.begin(), facts.end(), [](const std::string& fact) { return fact == "strategy"; });
  for (const std::string& fact : facts) {
    auto others = facts;
    std::erase(others, fact);
    maker.addComparisons(fact, others);
  }
  return maker.take();
}

std::vector<ResultTable> tablesOf(DataPoints figures, const std::string& where) {
  FigureTables tables = figureTablesOf(std::move(figures), where);
  std::ranges::move(tables.ratios, std::back_inserter(tables.scaling));
  return std::move(tables.scaling);
}

}  // namespace tandem
