#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/analysis/run_groups.h"

namespace tandem {

/// What the losses in a table of runs are of, a row per group: one note, or none if no run was trained. Losses after
/// unequal numbers of updates cannot be compared; then the note says so.
std::vector<std::string> updatesNotes(std::span<const RunGroup> groups);

}  // namespace tandem
