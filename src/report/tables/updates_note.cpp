#include "report/tables/updates_note.h"

#include <algorithm>

#include "base/text.h"
#include "measure/metrics/updates.h"
#include "report/tables/result_table.h"

namespace tandem {
namespace {

/// "400 to 485", or "485".
std::string rangeText(const std::vector<int64_t>& counts) {
  const auto [least, most] = std::ranges::minmax(counts);
  return least == most ? concat(least) : concat(least, " to ", most);
}

}  // namespace

std::vector<std::string> updatesNotes(std::span<const RunGroup> groups) {
  std::vector<size_t> rows;
  std::vector<int64_t> updates, warmups;
  for (size_t i = 0; i < groups.size(); ++i) {
    for (const RunRecord* run : groups[i].shown()) {
      const auto count = updatesOf(*run);
      if (!count || run->training) continue;  // the table of trainings has theirs
      if (rows.empty() || rows.back() != i + 1) rows.push_back(i + 1);
      updates.push_back(*count), warmups.push_back(run->warmup.steps);
    }
  }
  if (rows.empty()) return {};
  const std::string counts = concat(rangeText(updates), " updates (", rangeText(warmups), " of warm-up)");
  if (std::ranges::count(updates, updates.front()) == std::ssize(updates)) {
    return {concat(rowsText(rows), ": loss and weights after ", counts)};
  }
  return {concat(rowsText(rows), ": losses cannot be compared: they are after ", counts,
                 "; --warmup=0 --steps=N makes N updates in each")};
}

}  // namespace tandem
