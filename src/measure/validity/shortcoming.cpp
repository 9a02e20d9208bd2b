#include "measure/validity/shortcoming.h"

#include <algorithm>

#include "measure/validity/consistency_checks.h"
#include "measure/validity/interference.h"
#include "measure/validity/stationarity.h"

namespace tandem {

bool isUnchecked(const RunRecord& record) {
  return !record.config.measurement.allowInterference && isUnchecked(record.interference, record.window);
}

std::string_view shortcoming(const RunRecord& record) {
  if (record.outcome.kind == OutcomeKind::failed) return "failed";
  if (record.outcome.kind == OutcomeKind::skipped) return "skipped";
  if (!record.valid()) return "not valid";
  if (!isQuotable(record)) return "in doubt";
  if (isUnchecked(record)) return "not checked";
  return notSteadyBecause(record).empty() ? "" : "not steady";
}

std::vector<ShortcomingCount> countShortcomings(std::span<const RunRecord* const> records) {
  std::vector<ShortcomingCount> counts{{"failed"},   {"skipped"},     {"not valid"},
                                       {"in doubt"}, {"not checked"}, {"not steady"}};
  for (const RunRecord* record : records) {
    const auto count = std::ranges::find(counts, shortcoming(*record), &ShortcomingCount::name);
    if (count != counts.end()) ++count->runs;
  }
  return counts;
}

}  // namespace tandem
