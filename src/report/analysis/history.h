#pragma once

#include <span>
#include <vector>

#include "measure/record/record.h"
#include "report/tables/result_table.h"

namespace tandem {

/// The same configuration over time: a table for each configuration and machine, its runs in the order of time, each
/// against the one before and against the best so far. Marked as a regression is a run that is slower than one of these
/// two at 99 %. The error of a run is that of its steps or, where runs of one build of the program tell it, how much
/// such runs differ among themselves, if that is more. A run with a caveat (not valid, not steady, shared cores) is
/// shown, but not judged, nor is anything judged by it; nor is one that did not finish.
std::vector<ResultTable> history(std::span<const RunRecord> records);

}  // namespace tandem
