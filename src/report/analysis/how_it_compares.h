#pragma once

#include <span>
#include <string>
#include <vector>

#include "measure/record/record.h"
#include "report/tables/result_table.h"

namespace tandem {

/// "Is my number right?": the runs beside the two ceilings of their machine, and beside the nearest published figures.
/// A table that nothing is known for is left out.
std::vector<ResultTable> howItComparesTables(std::span<const RunRecord> records);

/// The same of one run in words, a line each.
std::vector<std::string> howItComparesLines(const RunRecord& record);

}  // namespace tandem
