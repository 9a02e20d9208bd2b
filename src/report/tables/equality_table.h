#pragma once

#include <span>
#include <string>
#include <vector>

#include "measure/record/record.h"
#include "report/runs.h"
#include "report/tables/result_table.h"

namespace tandem {

/// Whether runs of one configuration compute what one replica in fp64 does: "1.4e-06", the largest relative error of
/// the weights' change. With several replicas "bit-equal, 1.4e-06" if all have the weights of one with the same
/// kernels. Empty: none was compared.
std::string equalText(std::span<const RunRecord* const> runs);

/// The sentence on equalText() that the runs need: why it is empty, or what the bits equal. Else empty.
std::string equalNote(std::span<const RunRecord* const> runs);

/// The largest errors of each row that was compared, beside those of plain ATen on the same steps.
std::vector<ResultTable> equalityTables(const ReportRuns& runs);

}  // namespace tandem
