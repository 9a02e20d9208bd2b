#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "measure/record/record.h"

namespace tandem {

enum class Better { higher, lower, neither };

/// A row of the metric table: everything shown about a run is computed here from its record. Formulas and units are in
/// docs/METRICS.md. `baseline` is what Baselines found, or null; a metric that cannot be computed is empty, never
/// 0 or NaN, and so is every metric of a run that was skipped or failed.
struct Metric {
  std::string_view name, unit, help;
  int decimals;  ///< digits after the point when shown to people
  Better better;
  std::optional<double> (*of)(const RunRecord&, const RunRecord* baseline);
};

std::span<const Metric> metrics();

/// The row called `name`. Throws UsageError that lists the valid names.
const Metric& metric(std::string_view name);

/// The 1-replica ok records among `records`, found by what they must have in common with the runs that are compared
/// with them: host, threads per replica and every axis option but replicas; of the device set only the first device.
class Baselines {
 public:
  /// `records` must outlive this.
  explicit Baselines(std::span<const RunRecord> records);

  /// The record that `record` is compared with, or null. A 1-replica record that is itself in `records` is its own
  /// baseline; of several others the last counts.
  const RunRecord* of(const RunRecord& record) const;

 private:
  std::span<const RunRecord> records_;
  std::map<std::string, const RunRecord*> last_;
};

}  // namespace tandem
