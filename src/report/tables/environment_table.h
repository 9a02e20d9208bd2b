#pragma once

#include <span>
#include <string>
#include <vector>

#include "measure/record/record.h"
#include "report/tables/result_table.h"

namespace tandem {

struct EnvironmentFact {
  std::string name, value;

  bool operator==(const EnvironmentFact&) const = default;
};

/// What makes one environment another, in a fixed order. Free memory and load, which differ from run to run, are left
/// out. What could not be read is "unknown".
std::vector<EnvironmentFact> factsOf(const Environment& environment);

/// What the runs were measured on, a row per fact and a column per different environment, with the rows of the sweep's
/// table that it belongs to. The load before the runs is given as a range.
ResultTable environmentTable(std::span<const RunRecord> records);

}  // namespace tandem
