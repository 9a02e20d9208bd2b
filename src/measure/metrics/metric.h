#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "measure/record/record.h"

namespace tandem {

enum class Better { higher, lower, neither };

/// A row of the metric table. Every number that is shown of a run is computed here from its record. docs/METRICS.md
/// states formulas and units. `baseline` comes from Baselines, or is null. A metric that cannot be computed is empty,
/// never 0 or NaN. Skipped and failed runs have no metrics.
struct Metric {
  std::string_view name, unit, help;
  int decimals;  ///< digits after the point when shown to people
  Better better;
  std::optional<double> (*of)(const RunRecord&, const RunRecord* baseline);
};

std::span<const Metric> metrics();

/// Returns the row called `name`. Throws UsageError that lists the valid names.
const Metric& metric(std::string_view name);

/// The 1-replica ok records among `records`. A baseline agrees with the runs compared with it in host, threads per
/// replica and every axis option but replicas. Of the device set, only the first device must agree.
class Baselines {
 public:
  /// REQUIRES: `records` outlives this.
  explicit Baselines(std::span<const RunRecord> records);

  /// Returns the record that `record` is compared with, or null. A 1-replica record that is itself in `records` is its
  /// own baseline. Among several others the last one counts.
  const RunRecord* of(const RunRecord& record) const;

 private:
  std::span<const RunRecord> records_;
  std::map<std::string, const RunRecord*> last_;
};

}  // namespace tandem
