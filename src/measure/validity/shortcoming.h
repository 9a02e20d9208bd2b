#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "measure/record/record.h"

namespace tandem {

/// Whether other programs may have disturbed the run, which nothing tells (measure/validity/interference.h). With
/// --allow-interference that does not matter.
bool isUnchecked(const RunRecord& record);

/// Why the rate of a run does not count: the first that holds of "failed", "skipped", "not valid", "in doubt"
/// (measure/validity/consistency_checks.h), "not checked" (isUnchecked()) and "not steady". Empty if it counts.
std::string_view shortcoming(const RunRecord& record);

struct ShortcomingCount {
  std::string_view name;
  std::string_view remedy;  ///< what a user can do; empty: nothing is known
  size_t runs = 0;
};

/// Number of runs with each shortcoming, in the order of shortcoming()'s checks.
std::vector<ShortcomingCount> countShortcomings(std::span<const RunRecord* const>);

}  // namespace tandem
