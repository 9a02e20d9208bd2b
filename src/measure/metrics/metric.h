#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "measure/record/record.h"

namespace tandem {

enum class Better { higher, lower, neither };

/// A row of the metric table. Every number that is shown of a run is computed here from its record. docs/METRICS.md
/// states formulas and units. `baseline` is the run of one replica that speed-ups are relative to, or null. A metric
/// that cannot be computed is empty, never 0 or NaN. Skipped and failed runs have no metrics.
struct Metric {
  std::string_view name, unit, help;
  static constexpr int powerOfTen = -1;
  int decimals;  ///< digits after the point when shown to people; powerOfTen: as 1.1e-02
  Better better;
  std::optional<double> (*of)(const RunRecord&, const RunRecord* baseline);
};

std::span<const Metric> metrics();

/// Returns the row called `name`. Throws UsageError that lists the valid names.
const Metric& metric(std::string_view name);

}  // namespace tandem
