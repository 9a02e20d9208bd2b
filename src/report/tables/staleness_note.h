#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/analysis/run_groups.h"

namespace tandem {

/// How old the weights were that gradients were computed with, for each row of a table of runs where they were not
/// always the newest.
std::vector<std::string> stalenessNotes(std::span<const RunGroup> groups);

}  // namespace tandem
