#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "measure/record.h"
#include "report/result_table.h"

namespace tandem {

/// The image size of a network where nobody says otherwise; 0 unknown. The zoo knows it, and cli hands it in.
using OwnImageSize = std::function<int64_t(const std::string& model)>;

/// "Is my number right?": the runs beside the two ceilings of their machine, and beside the nearest published figures.
/// A table that nothing is known for is left out.
std::vector<ResultTable> standingTables(std::span<const RunRecord> records, const OwnImageSize& ownImageSize);

/// The same of one run in words, a line each.
std::vector<std::string> standingLines(const RunRecord& record, const OwnImageSize& ownImageSize);

}  // namespace tandem
