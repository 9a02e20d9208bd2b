#include "report/analysis/data_points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "base/error.h"
#include "base/number.h"
#include "base/statistics.h"
#include "base/text.h"
#include "measure/metrics/metric.h"
#include "report/analysis/run_groups.h"
#include "report/tables/point_label.h"

namespace tandem {
namespace {

constexpr std::array<std::string_view, 5> measureNames{"images_per_s", "efficiency_percent", "speedup",
                                                       "printed_speedup", "clock_ghz"};

std::optional<double> positiveIn(std::string_view text) {
  const auto value = numberIn<double>(text);
  return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
}

std::string valueIn(const Facts& row, std::string_view column) {
  const auto found = row.find(column);
  return found == row.end() ? "" : found->second;
}

bool oneHost(std::span<const RunRecord> records) {
  return std::ranges::all_of(
      records, [&](const RunRecord& record) { return record.environment.host == records.front().environment.host; });
}

std::optional<double> rateOf(const RunRecord& record) { return metric(measureNames.front()).of(record, nullptr); }

/// The options in which the records differ and on which a rate may depend.
std::vector<const Option*> factsOf(std::span<const RunRecord> records) {
  auto facts = differingOptions(records);
  std::erase_if(facts, [](const Option* option) { return option->varies == Variation::measuring; });
  return facts;
}

/// Those that the main table shows numbers of.
std::vector<const RunRecord*> runsShown(std::span<const RunRecord> records) {
  std::vector<const RunRecord*> shown;
  for (const RunGroup& group : groupsOf(records)) std::ranges::move(group.shown(), std::back_inserter(shown));
  return shown;
}

}  // namespace

std::span<const std::string_view> measureColumns() { return measureNames; }

bool DataPoints::has(std::string_view column) const { return std::ranges::find(columns, column) != columns.end(); }

std::vector<const Facts*> DataPoints::matching(const Facts& wanted) const {
  std::vector<const Facts*> found;
  for (const Facts& row : rows) {
    const bool agrees =
        std::ranges::all_of(wanted, [&](const auto& fact) { return valueIn(row, fact.first) == fact.second; });
    if (agrees) found.push_back(&row);
  }
  return found;
}

std::vector<double> DataPoints::values(std::string_view measure, const Facts& wanted) const {
  std::vector<double> found;
  for (const Facts* row : matching(wanted)) {
    if (const auto value = positiveIn(valueIn(*row, measure))) found.push_back(*value);
  }
  return found;
}

std::optional<double> DataPoints::median(std::string_view measure, const Facts& wanted) const {
  return tandem::median(values(measure, wanted));
}

std::optional<Estimate> DataPoints::logarithm(std::string_view measure, const Facts& wanted) const {
  auto logarithms = values(measure, wanted);
  for (double& value : logarithms) value = std::log(value);
  return estimateOfRepeats(logarithms);
}

std::vector<std::vector<std::string>> DataPoints::tuples(std::span<const std::string> of, const Facts& wanted) const {
  std::vector<std::vector<std::string>> found;
  for (const Facts* row : matching(wanted)) {
    std::vector<std::string> tuple;
    for (const std::string& column : of) tuple.push_back(valueIn(*row, column));
    if (std::ranges::find(found, tuple) == found.end()) found.push_back(std::move(tuple));
  }
  return found;
}

DataPoints dataPointsFrom(const CsvTable& table, const std::string& where) {
  DataPoints figures{table.columns, {}};
  for (const CsvTable::Row& row : table.rows) {
    Facts& facts = figures.rows.emplace_back();
    for (size_t i = 0; i < row.fields.size(); ++i) {
      const std::string& field = row.fields[i];
      if (field.empty()) continue;
      const bool measure = std::ranges::find(measureNames, table.columns[i]) != measureNames.end();
      if (measure && !positiveIn(field)) {
        throw DataError(concat(where, ", line ", row.line, ": ", table.columns[i], " is '", field,
                               "', expected a number above 0, or nothing where it was not measured"));
      }
      facts[table.columns[i]] = field;
    }
  }
  return figures;
}

DataPoints dataPointsFrom(std::span<const RunRecord> records) {
  DataPoints figures;
  const auto differing = factsOf(records);
  const bool measured =
      std::ranges::any_of(records, [](const RunRecord& record) { return rateOf(record) && !record.profile; });
  const bool hosts = !oneHost(records);
  if (hosts) figures.columns.emplace_back("host");
  for (const Option* option : differing) figures.columns.emplace_back(option->name);
  figures.columns.emplace_back(measureNames.front());
  for (const RunRecord* record : runsShown(records)) {
    const auto rate = rateOf(*record);
    if (!rate || (measured && record->profile)) continue;
    Facts& facts = figures.rows.emplace_back();
    if (hosts) facts["host"] = record->environment.host;
    for (const Option* option : differing)
      facts[std::string(option->name)] = oneLine(valueText(record->config, *option));
    facts[std::string(measureNames.front())] = concat(*rate);  // six digits: no measurement has more
    const std::string caveats = briefCaveats(*record);
    if (!caveats.empty()) facts[std::string(caveatColumn)] = caveats;
  }
  return figures;
}

ResultTable listOf(const DataPoints& figures) {
  ResultTable list;
  list.labels = 0;
  std::vector<std::string> used;
  for (const std::string& column : figures.columns) {
    if (std::ranges::none_of(figures.rows, [&](const Facts& row) { return row.contains(column); })) continue;
    used.push_back(column);
    list.columns.push_back({column, "", std::ranges::find(measureNames, column) != measureNames.end()});
  }
  for (const Facts& row : figures.rows) {
    TableRow& cells = list.rows.emplace_back();
    for (const std::string& column : used) cells.cells.push_back(valueIn(row, column));
  }
  return list;
}

}  // namespace tandem
