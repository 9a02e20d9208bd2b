#pragma once

#include <string>
#include <vector>

#include "report/analysis/data_points.h"
#include "report/analysis/pivot_table.h"
#include "report/tables/chart.h"
#include "report/tables/result_table.h"

namespace tandem {

/// The tables of any figures, with their charts: `scaling`, images/s, speed-up and efficiency by number of devices; of
/// each fact in which they differ `sideBySide`, the rates by its values, and `ratios`, of rates and of speed-ups,
/// between its first value and each other.
struct FigureTables {
  std::vector<ResultTable> scaling, sideBySide, ratios;
};

/// The number of devices is the column `replicas`, `devices` or `gpus`. Throws DataError, naming `where`, without it,
/// without images_per_s and without figures.
FigureTables figureTablesOf(DataPoints figures, const std::string& where);

/// `scaling`, then `ratios`, which hold the numbers of `sideBySide` too.
std::vector<ResultTable> tablesOf(DataPoints figures, const std::string& where);

/// Lines over the number of devices, one for each row of the grid, and what is ideal: for rates that of one device
/// times the devices, for speed-ups the devices, for efficiencies 100 %. Rows that are other work (model, image size,
/// classes, head) or another host stand in charts of their own, as do more than eight lines. Nothing where all figures
/// have the same number of devices. REQUIRES: rows of facts and one column of devices, or rows of devices and no
/// column.
std::vector<Chart> scalingCharts(const PivotTable& table, const Grid& grid);

/// Bars side by side: a group for each row, a colour for each column.
std::vector<Chart> barCharts(const PivotTable& table, const Grid& grid);

}  // namespace tandem
