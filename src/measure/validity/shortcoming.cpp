#include "measure/validity/shortcoming.h"

#include <algorithm>

#include "measure/validity/consistency_checks.h"
#include "measure/validity/interference.h"
#include "measure/validity/stationarity.h"

namespace tandem {

bool isUnchecked(const RunRecord& record) {
  return !record.config.measurement.allowInterference && isUnchecked(record.interference, record.window);
}

namespace {

struct Shortcoming {
  std::string_view name;
  bool (*holds)(const RunRecord&);
  std::string_view remedy = "";
};

constexpr Shortcoming table[] = {
    {"failed", [](const RunRecord& run) { return run.outcome.kind == OutcomeKind::failed; }},
    {"skipped", [](const RunRecord& run) { return run.outcome.kind == OutcomeKind::skipped; }},
    {"not valid", [](const RunRecord& run) { return !run.valid(); }},
    {"in doubt", [](const RunRecord& run) { return !isQuotable(run); }},
    {"not checked", isUnchecked, "windows under 1 s beside other programs: a larger --budget or --steps helps"},
    {"not steady", [](const RunRecord& run) { return !notSteadyBecause(run).empty(); },
     "a larger --budget, --steps or --warmup helps"},
};

}  // namespace

std::string_view shortcoming(const RunRecord& record) {
  const auto row = std::ranges::find_if(table, [&](const Shortcoming& each) { return each.holds(record); });
  return row == std::end(table) ? "" : row->name;
}

std::vector<ShortcomingCount> countShortcomings(std::span<const RunRecord* const> records) {
  std::vector<ShortcomingCount> counts;
  for (const Shortcoming& row : table) counts.push_back({row.name, row.remedy});
  for (const RunRecord* record : records) {
    const auto count = std::ranges::find(counts, shortcoming(*record), &ShortcomingCount::name);
    if (count != counts.end()) ++count->runs;
  }
  return counts;
}

}  // namespace tandem
