#include <algorithm>
#include <array>
#include <cmath>

#include "base/statistics.h"
#include "base/text.h"
#include "measure/metrics/step_times.h"
#include "report/tables/tables.h"

namespace tandem {
namespace {

struct Percentile {
  std::string_view name;
  std::optional<double> (*of)(std::span<const double>);
};

template <int percent>
std::optional<double> percentileOf(std::span<const double> values) {
  return percentile(values, percent);
}

std::optional<double> least(std::span<const double> values) { return std::ranges::min(values); }
std::optional<double> most(std::span<const double> values) { return std::ranges::max(values); }

constexpr std::array columns{
    Percentile{"least", least},          Percentile{"p5", percentileOf<5>},   Percentile{"median", median},
    Percentile{"p95", percentileOf<95>}, Percentile{"p99", percentileOf<99>}, Percentile{"most", most},
};
constexpr std::array<std::string_view, 3> marked{"median", "p95", "p99"};

/// The histogram has sqrt(steps) bins, at most 40, of equal width from the least to the largest time.
Chart histogramOf(const std::vector<double>& times) {
  const double low = std::ranges::min(times), high = std::ranges::max(times);
  const auto wanted = static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(times.size()))));
  const size_t bins = high > low ? std::clamp<size_t>(wanted, 1, 40) : 1;
  const double width = high > low ? (high - low) / static_cast<double>(bins) : std::max(high, 1.0) / 100;
  Chart chart{.kind = ChartKind::histogram, .title = {}, .x = "ms", .y = "steps"};
  std::vector<double> counts(bins);
  for (const double time : times) ++counts[std::min(bins - 1, static_cast<size_t>((time - low) / width))];
  const double first = high > low ? low + width / 2 : low;
  for (size_t bin = 0; bin < bins; ++bin) chart.at.push_back(first + width * static_cast<double>(bin));
  chart.series.push_back({.name = "steps", .values = std::move(counts)});
  return chart;
}

std::vector<double> milliseconds(const RunRecord& record) {
  auto times = stepSeconds(record);
  for (double& time : times) time *= 1e3;
  return times;
}

}  // namespace

std::vector<ResultTable> stepTimesTables(const ReportRuns& runs) {
  ResultTable table{{{"run", "", false}, {"steps", "", true}}, {}, {}};
  for (const Percentile& column : columns) table.columns.push_back({std::string(column.name), "ms", true});
  table.columns.push_back({"caveats", "", false, /*caveats=*/true});
  for (const size_t row : runs.shown()) {
    const auto times = milliseconds(runs.at(row));
    if (times.empty()) continue;
    const std::string caveats = briefCaveats(runs.at(row));
    TableRow& cells = table.rows.emplace_back(TableRow{{runs.nameOf(row), concat(times.size())}, "", !caveats.empty()});
    Chart& chart = table.charts.emplace_back(histogramOf(times));
    chart.title = "Run " + runs.nameOf(row);
    chart.caveat = caveats;
    for (const Percentile& column : columns) {
      const auto value = column.of(times);
      cells.cells.push_back(value ? fixed(*value, 2) : "");
      if (value && std::ranges::find(marked, column.name) != marked.end()) {
        chart.bands.push_back({std::string(column.name), *value, *value});
      }
    }
    cells.cells.push_back(caveats);
  }
  if (table.rows.empty()) return {};
  return {std::move(table)};
}

}  // namespace tandem
