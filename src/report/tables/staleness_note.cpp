#include "report/tables/staleness_note.h"

#include <algorithm>

#include "base/text.h"
#include "report/tables/result_table.h"

namespace tandem {
namespace {

/// "0.98", or "0.98 to 1.02" over the runs of a row.
std::string meansText(const std::vector<double>& means) {
  const auto [least, most] = std::ranges::minmax(means);
  const std::string from = fixed(least, 2), to = fixed(most, 2);
  return from == to ? from : concat(from, " to ", to);
}

}  // namespace

std::vector<std::string> stalenessNotes(std::span<const RunGroup> groups) {
  std::vector<std::string> notes;
  for (size_t i = 0; i < groups.size(); ++i) {
    std::vector<double> means;
    int64_t most = 0;
    for (const RunRecord* run : groups[i].shown()) {
      if (!run->staleness) continue;
      means.push_back(run->staleness->mean);
      most = std::max(most, run->staleness->most);
    }
    if (means.empty()) continue;
    const size_t row = i + 1;
    notes.push_back(concat(rowsText(std::span(&row, 1)), ": gradients were those of weights that lacked ",
                           meansText(means), " updates in the mean, ", most, " at most (",
                           groups[i].typical().placement.update, ")"));
  }
  return notes;
}

}  // namespace tandem
