#pragma once

#include <span>
#include <string>
#include <vector>

#include "measure/record/training_record.h"
#include "report/runs.h"
#include "report/tables/result_table.h"

namespace tandem {

/// "3 cat taken for 5 dog, 99.1 %". Of flags "3 nodule taken for no 3 nodule", or the other way round. `classes`: their
/// names; none: their numbers are shown.
std::string wrongText(std::span<const std::string> classes, const WrongPrediction& wrong);

/// The wrong predictions of the last evaluation of each split, of each training, with the pictures that were read.
/// Empty without any.
std::vector<ResultTable> wrongTables(const ReportRuns& runs);

}  // namespace tandem
