#include <array>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "report/tables/tables.h"

namespace tandem {
namespace {

/// A part of a step: its seconds over all samples. Parts do not overlap.
struct StepPart {
  std::string_view name;
  double (*of)(const RunRecord&);
};

template <Nanos StepSample::*Part>
double sum(const RunRecord& record) {
  Nanos total{};
  for (const StepSample& step : record.steps) total += step.*Part;
  return seconds(total);
}

constexpr std::array sampleParts{
    StepPart{"input", sum<&StepSample::input>},
    StepPart{"compute", sum<&StepSample::compute>},
    StepPart{"exposed exchange", sum<&StepSample::exposedComm>},
};

/// Milliseconds of a mean step: each part, the remainder, and the whole step.
std::vector<double> meanParts(const RunRecord& record) {
  const auto samples = static_cast<double>(record.steps.size());
  const double wall = 1e3 * sum<&StepSample::wall>(record) / samples;
  std::vector<double> times;
  double other = wall;
  for (const StepPart& part : sampleParts) {
    times.push_back(1e3 * part.of(record) / samples);
    other -= times.back();
  }
  times.push_back(std::max(0.0, other));
  times.push_back(wall);
  return times;
}

}  // namespace

std::vector<ResultTable> stepPartsTables(const ReportRuns& runs) {
  ResultTable table{{{"run", "", false}}, {}, {}};
  Chart chart{.kind = ChartKind::parts, .title = {}, .x = {}, .y = "ms per step"};
  for (const StepPart& part : sampleParts) chart.series.push_back({.name = std::string(part.name), .values = {}});
  chart.series.push_back({.name = "other", .values = {}});
  for (const ChartSeries& series : chart.series) table.columns.push_back({series.name, "ms", true});
  table.columns.insert(table.columns.end(), {{"step", "ms", true}, {"caveats", "", false, /*caveats=*/true}});
  for (const size_t row : runs.shown()) {
    const RunRecord& record = runs.at(row);
    if (record.steps.empty()) continue;
    const auto times = meanParts(record);
    const std::string caveats = briefCaveats(record);
    TableRow& cells = table.rows.emplace_back(TableRow{{runs.nameOf(row)}, "", !caveats.empty()});
    for (const double time : times) cells.cells.push_back(fixed(time, 2));
    cells.cells.push_back(caveats);
    chart.labels.push_back(runs.nameOf(row));
    for (size_t i = 0; i < chart.series.size(); ++i) {
      chart.series[i].values.push_back(times[i]);
      chart.series[i].remarks.push_back(caveats);
    }
  }
  if (table.rows.empty()) return {};
  table.charts.push_back(std::move(chart));
  return {std::move(table)};
}

}  // namespace tandem
