#pragma once

#include "report/tables/result_table.h"

namespace tandem {

/// A table with every text as withoutControls() gives it: records, and CSV files of others, may hold anything.
ResultTable shownTable(ResultTable table);

}  // namespace tandem
