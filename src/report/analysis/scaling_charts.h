#pragma once

#include <vector>

#include "report/analysis/pivot_table.h"
#include "report/tables/chart.h"

namespace tandem {

/// Lines over the number of devices, one for each row of the grid, and what is ideal: for rates that of one device
/// times the devices, for speed-ups the devices, for efficiencies 100 %. Rows that are other work (model, image size,
/// classes, head) or another host stand in charts of their own, as do more than eight lines. Nothing where all figures
/// have the same number of devices. REQUIRES: rows of facts and one column of devices, or rows of devices and no
/// column.
std::vector<Chart> scalingCharts(const PivotTable& table, const Grid& grid);

/// Bars side by side: a group for each row, a colour for each column.
std::vector<Chart> barCharts(const PivotTable& table, const Grid& grid);

}  // namespace tandem
