#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/statistics.h"
#include "measure/record/record.h"
#include "report/analysis/csv_table.h"
#include "report/tables/result_table.h"

namespace tandem {

/// Facts of a figure, or a condition on them: fact -> value.
using Facts = std::map<std::string, std::string, std::less<>>;

/// Published or measured figures. Each has facts that distinguish it from the others (model, device, number of devices,
/// ...) and measures such as its rate. Facts and measures are named columns. A figure has no entry for a value it
/// lacks.
struct DataPoints {
  std::vector<std::string> columns;  ///< in display order
  std::vector<Facts> rows;

  bool has(std::string_view column) const;

  /// The rows that agree with every fact in `wanted`.
  std::vector<const Facts*> matching(const Facts& wanted) const;

  /// The measure of the matching rows that have it.
  std::vector<double> values(std::string_view measure, const Facts& wanted) const;

  /// Their median, as in all tables of runs. Empty if there are none.
  std::optional<double> median(std::string_view measure, const Facts& wanted) const;

  /// Mean of their logarithms, with the error of their spread. Empty for fewer than two.
  std::optional<Estimate> logarithm(std::string_view measure, const Facts& wanted) const;

  /// The distinct values of the columns among the rows that match `wanted`, one tuple each, in the order of first
  /// appearance. A fact that a row lacks is empty.
  std::vector<std::vector<std::string>> tuples(std::span<const std::string> of, const Facts& wanted) const;
};

/// The fact that holds a caveat of a figure ("not steady"). Figures are not distinguished by it.
constexpr std::string_view caveatColumn = "caveat";

/// Columns that hold numbers, images_per_s first. All other columns are facts.
std::span<const std::string_view> measureColumns();

/// Throws DataError, which names `where` and the line, if a measure is neither empty nor a number above 0.
DataPoints dataPointsFrom(const CsvTable& table, const std::string& where);

/// One figure per run that numbers are shown of (RunGroup::shown()): its images/s, `replicas` and the options in which
/// the records differ, without those that say how they were measured (Variation::measuring). The host too, if there are
/// several. A run with --profile, whose rate is no measurement, is left out where there are others.
DataPoints dataPointsFrom(std::span<const RunRecord> records);

/// The figures as a list, without the columns that are empty in all of them.
ResultTable listOf(const DataPoints& figures);

}  // namespace tandem
