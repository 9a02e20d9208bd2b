#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "report/analysis/figure_tables.h"

namespace tandem {
namespace {

constexpr size_t mostLines = 8, mostGroups = 12;
constexpr std::array<std::string_view, 6> otherWork{"host", "machine", "model", "image-size", "classes", "head"};

double valueOf(const std::optional<double>& cell, double scale) {
  return cell ? scale * *cell : std::numeric_limits<double>::quiet_NaN();
}

double scaleOf(const PivotTable& table) { return table.form == CellForm::percent ? 100 : 1; }

std::string axisTitle(const PivotTable& table) {
  switch (table.quantity) {
    case Quantity::rate:
      return "images/s";
    case Quantity::speedup:
      return "speed-up (x)";
    case Quantity::efficiency:
      return "efficiency (%)";
    case Quantity::clock:
      return "GHz";
  }
  throw InternalError("a quantity without an axis");
}

double devicesIn(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

/// A row of the grid as a line. Without facts, all rows together are the points of one line.
struct Line {
  std::vector<std::string> facts;
  std::vector<double> values;
  std::vector<std::string> remarks;
};

struct Lines {
  std::vector<double> devices;
  std::vector<Line> lines;
};

Lines linesOf(const PivotTable& table, const Grid& grid) {
  const double scale = scaleOf(table);
  Lines found;
  if (table.columns.empty()) {
    Line line;
    for (size_t row = 0; row < grid.rows.size(); ++row) {
      found.devices.push_back(devicesIn(grid.rows[row].front()));
      line.values.push_back(valueOf(grid.cells[row].front(), scale));
      line.remarks.push_back(grid.remarks[row].front());
    }
    found.lines.push_back(std::move(line));
    return found;
  }
  for (const auto& column : grid.columns) found.devices.push_back(devicesIn(column.front()));
  for (size_t row = 0; row < grid.rows.size(); ++row) {
    Line line{grid.rows[row], {}, grid.remarks[row]};
    for (const auto& cell : grid.cells[row]) line.values.push_back(valueOf(cell, scale));
    found.lines.push_back(std::move(line));
  }
  return found;
}

std::vector<double> idealOf(const PivotTable& table, const std::vector<double>& devices, const Line& line) {
  std::vector<double> ideal;
  const auto one = std::ranges::find(devices, 1.0) - devices.begin();
  for (const double count : devices) {
    if (table.quantity == Quantity::efficiency) {
      ideal.push_back(100);
    } else if (table.quantity == Quantity::speedup) {
      ideal.push_back(count);
    } else {
      const bool known = one < std::ssize(devices);
      ideal.push_back(known ? count * line.values[static_cast<size_t>(one)] : std::numeric_limits<double>::quiet_NaN());
    }
  }
  return ideal;
}

/// The chart's title holds the facts that all of its lines share; the other facts name the lines.
class ScalingCharts {
 public:
  ScalingCharts(const PivotTable& table, Lines lines) : table_(table), lines_(std::move(lines)) {}

  std::vector<Chart> take() {
    for (const Line& line : lines_.lines) add(line);
    for (Chart& chart : charts_) addIdeal(chart);
    return std::move(charts_);
  }

 private:
  void add(const Line& line) {
    std::vector<std::string> title, name;
    for (size_t i = 0; i < line.facts.size(); ++i) {
      const bool other = std::ranges::find(otherWork, table_.rows[i]) != otherWork.end();
      (other ? title : name).push_back(line.facts[i]);
    }
    Chart& chart = chartOf(join(title, " "));
    const std::string label = name.empty() ? axisTitle(table_) : join(name, " ");
    chart.series.push_back({.name = label, .values = line.values, .remarks = line.remarks});
    firstOf_.try_emplace(&chart - charts_.data(), line);
  }

  Chart& chartOf(const std::string& title) {
    for (Chart& chart : charts_) {
      if (chart.title == title && chart.series.size() < mostLines) return chart;
    }
    return charts_.emplace_back(Chart{
        .kind = ChartKind::scaling, .title = title, .x = table_.scale, .y = axisTitle(table_), .at = lines_.devices});
  }

  /// Adds the ideal. Rates have an ideal per line; with several lines only the ideal of the first is drawn.
  void addIdeal(Chart& chart) {
    const Line& first = firstOf_.at(&chart - charts_.data());
    const bool ofFirst = table_.quantity == Quantity::rate && chart.series.size() > 1;
    chart.series.push_back({.name = ofFirst ? "ideal of " + chart.series.front().name : "ideal",
                            .values = idealOf(table_, lines_.devices, first),
                            .ideal = true});
  }

  const PivotTable& table_;
  Lines lines_;
  std::vector<Chart> charts_;
  std::map<std::ptrdiff_t, Line> firstOf_;
};

}  // namespace

std::vector<Chart> scalingCharts(const PivotTable& table, const Grid& grid) {
  Lines lines = linesOf(table, grid);
  if (lines.devices.size() < 2) return {};
  return ScalingCharts(table, std::move(lines)).take();
}

std::vector<Chart> barCharts(const PivotTable& table, const Grid& grid) {
  std::vector<Chart> charts;
  for (size_t first = 0; first < grid.rows.size(); first += mostGroups) {
    const size_t end = std::min(first + mostGroups, grid.rows.size());
    Chart& chart = charts.emplace_back(Chart{.kind = ChartKind::bars, .title = {}, .x = {}, .y = axisTitle(table)});
    for (size_t row = first; row < end; ++row) {
      std::vector<std::string> named;
      for (size_t i = 0; i < table.rows.size(); ++i) named.push_back(concat(table.rows[i], '=', grid.rows[row][i]));
      chart.labels.push_back(join(named, " "));
    }
    for (size_t column = 0; column < grid.columns.size(); ++column) {
      ChartSeries& series =
          chart.series.emplace_back(ChartSeries{.name = join(grid.columns[column], " "), .values = {}});
      for (size_t row = first; row < end; ++row) {
        series.values.push_back(valueOf(grid.cells[row][column], scaleOf(table)));
        series.remarks.push_back(grid.remarks[row][column]);
      }
    }
  }
  return charts;
}

}  // namespace tandem
