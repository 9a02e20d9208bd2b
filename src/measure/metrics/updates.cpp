#include "measure/metrics/updates.h"

#include <algorithm>

#include "base/text.h"

namespace tandem {
namespace {

int64_t skippedSteps(const RunRecord& record) { return std::max<int64_t>(0, record.skippedSteps); }

}  // namespace

std::optional<int64_t> updatesOf(const RunRecord& record) {
  if (record.outcome.kind != OutcomeKind::ok || record.config.step.forwardOnly) return {};
  if (record.staleness) return record.staleness->updates;
  if (record.training) return record.training->steps - skippedSteps(record);
  return record.warmup.steps + record.measuredSteps - skippedSteps(record);
}

std::string updatesText(const RunRecord& record) {
  const auto updates = updatesOf(record);
  if (!updates) return "";
  const std::string skipped = skippedSteps(record) == 0 ? "" : concat("; ", skippedSteps(record), " steps made none");
  return concat("weights after ", *updates, " updates (", record.warmup.steps, " of warm-up", skipped, ")");
}

}  // namespace tandem
