#include <algorithm>
#include <cmath>
#include <limits>

#include "base/statistics.h"
#include "base/text.h"
#include "report/tables/point_label.h"
#include "report/tables/tables.h"

namespace tandem {
namespace {

/// Groups the series by quantity, in order of first appearance. Devices keep the order of the telemetry.
std::vector<std::vector<const TelemetrySeries*>> byQuantity(const Telemetry& telemetry) {
  std::vector<std::vector<const TelemetrySeries*>> groups;
  for (const TelemetrySeries& series : telemetry.series) {
    const auto same = [&](const auto& group) { return group.front()->quantity == series.quantity; };
    const auto group = std::ranges::find_if(groups, same);
    if (group == groups.end()) {
      groups.push_back({&series});
    } else {
      group->push_back(&series);
    }
  }
  return groups;
}

std::vector<ChartBand> bandsOf(const Telemetry& telemetry) {
  std::vector<ChartBand> bands;
  const double last = seconds(telemetry.at.back());
  for (const TelemetryPhase& phase : telemetry.phases) {
    const double begin = seconds(phase.begin);
    if (!bands.empty()) bands.back().to = begin;
    bands.push_back({phase.name, begin, std::max(begin, last)});
  }
  return bands;
}

std::string withUnit(const TelemetrySeries& series) {
  return series.unit.empty() ? series.quantity : concat(series.quantity, " (", series.unit, ")");
}

Chart chartOf(const Telemetry& telemetry, std::span<const TelemetrySeries* const> devices) {
  const TelemetrySeries& first = *devices.front();
  Chart chart{.kind = ChartKind::time, .title = withUnit(first), .x = "s", .y = withUnit(first)};
  for (const Nanos at : telemetry.at) chart.at.push_back(seconds(at));
  for (const TelemetrySeries* series : devices) {
    auto values = series->values;
    values.resize(chart.at.size(), std::numeric_limits<double>::quiet_NaN());
    chart.series.push_back({.name = series->device, .values = std::move(values)});
  }
  chart.bands = bandsOf(telemetry);
  chart.fromZero = first.unit == "%";
  return chart;
}

std::string shownValue(std::optional<double> value) { return value ? fixed(*value, 1) : ""; }

std::optional<double> highest(const std::vector<double>& values) {
  std::optional<double> most;
  for (const double value : values) {
    if (std::isfinite(value)) most = std::max(most.value_or(value), value);
  }
  return most;
}

std::vector<std::string> phaseNames(const Telemetry& telemetry) {
  std::vector<std::string> names;
  for (const TelemetryPhase& phase : telemetry.phases) {
    if (std::ranges::find(names, phase.name) == names.end()) names.push_back(phase.name);
  }
  return names;
}

ResultTable tableOf(const Telemetry& telemetry) {
  ResultTable table{{{"quantity", "", false}, {"device", "", false}}, {}, {}, "", 2};
  const auto phases = phaseNames(telemetry);
  for (const std::string& phase : phases) table.columns.push_back({oneLine(phase), "median", true});
  table.columns.push_back({"highest", "", true});
  for (const auto& devices : byQuantity(telemetry)) {
    for (const TelemetrySeries* series : devices) {
      TableRow& row = table.rows.emplace_back(TableRow{{oneLine(withUnit(*series)), oneLine(series->device)}, ""});
      for (const std::string& phase : phases)
        row.cells.push_back(shownValue(median(valuesIn(telemetry, *series, phase))));
      row.cells.push_back(shownValue(highest(series->values)));
    }
    table.charts.push_back(chartOf(telemetry, devices));
  }
  return table;
}

struct HostTelemetry {
  std::string name;
  const Telemetry* telemetry;
};

/// Of all hosts of a run, rank 0's first.
std::vector<HostTelemetry> hostsOf(const RunRecord& record) {
  std::vector<HostTelemetry> hosts{{record.environment.host, &record.telemetry}};
  for (const HostRecord& host : record.otherHosts) hosts.push_back({host.environment.host, &host.telemetry});
  return hosts;
}

}  // namespace

std::vector<ResultTable> telemetryTables(const ReportRuns& runs) {
  std::vector<ResultTable> tables;
  for (const size_t row : runs.shown()) {
    const RunRecord& record = runs.at(row);
    const bool severalHosts = !record.otherHosts.empty();
    for (const HostTelemetry& host : hostsOf(record)) {
      if (host.telemetry->at.empty() || host.telemetry->series.empty()) continue;
      ResultTable& table = tables.emplace_back(tableOf(*host.telemetry));
      table.title = concat("Run ", runs.nameOf(row), severalHosts ? ", host " + oneLine(host.name) : "");
      table.notes = caveatTexts(record);
      for (Chart& chart : table.charts) chart.caveat = briefCaveats(record);
    }
  }
  return tables;
}

}  // namespace tandem
