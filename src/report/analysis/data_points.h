#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/record/record.h"
#include "report/analysis/csv_table.h"
#include "report/tables/result_table.h"

namespace tandem {

/// What a figure must be to be chosen: fact -> value.
using Facts = std::map<std::string, std::string, std::less<>>;

/// Rates, and what else was published or measured, each with the facts that tell it from the others (model, device,
/// number of devices, ...). Facts and measures are named columns; a figure lacks what it has no value for.
struct DataPoints {
  std::vector<std::string> columns;  ///< in the order in which they are shown
  std::vector<Facts> rows;

  bool has(std::string_view column) const;

  /// The rows that agree with all of `wanted`.
  std::vector<const Facts*> matching(const Facts& wanted) const;

  /// Mean of the measure over the rows that agree and have it; empty without any.
  std::optional<double> mean(std::string_view measure, const Facts& wanted) const;

  /// The different values of the columns, one tuple per row of the result, in the order of first appearance among the
  /// rows that agree with `wanted`. A fact that a row lacks is empty.
  std::vector<std::vector<std::string>> tuples(std::span<const std::string> of, const Facts& wanted) const;
};

/// The fact that says what must be known beside a figure ("not steady"); figures do not differ by it.
constexpr std::string_view caveatColumn = "caveat";

/// Columns that hold numbers, images_per_s first. All other columns are facts.
std::span<const std::string_view> measures();

/// Throws DataError, naming `where` and the line, where a measure is neither empty nor a number above 0.
DataPoints dataPointsFrom(const CsvTable& table, const std::string& where);

/// One figure per finished record: its images/s, `replicas` and the options in which the records differ; the host,
/// where they come from several.
DataPoints dataPointsFrom(std::span<const RunRecord> records);

/// The figures as a list, without the columns that none of them has.
ResultTable listOf(const DataPoints& figures);

}  // namespace tandem
