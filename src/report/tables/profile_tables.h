#pragma once

#include <span>
#include <vector>

#include "measure/record/record.h"
#include "report/tables/result_table.h"

namespace tandem {

/// Of each run with --profile: the parts of its step by replica, with who arrives last, the work per step beside the
/// measured peaks, when each replica comes to each exchange, and what a GPU did (report/tables/kernel_tables.h). Titles
/// name the run as the rows of buildTable(records) do.
std::vector<ResultTable> profileTables(std::span<const RunRecord> records);

/// Which parts of the step differ between two profiles by 1 % of the step or more, the largest difference first;
/// waiting, which follows from others, last.
ResultTable changedParts(const Profile& a, const Profile& b);

}  // namespace tandem
