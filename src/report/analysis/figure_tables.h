#pragma once

#include <string>
#include <vector>

#include "report/analysis/data_points.h"
#include "report/analysis/pivot_table.h"
#include "report/tables/chart.h"
#include "report/tables/result_table.h"

namespace tandem {

/// The tables of any figures, with their charts. `scaling`: images/s, speed-up and efficiency by number of devices. For
/// each fact in which the figures differ: `sideBySide`, the rates by its values, and `ratios` of its first value to
/// each other value, for rates and for speed-ups.
struct FigureTables {
  std::vector<ResultTable> scaling, sideBySide, ratios;
};

/// The column `replicas`, `devices` or `gpus` counts the devices. Throws DataError, which names `where`, without such a
/// column, without images_per_s, and without figures.
FigureTables figureTablesOf(DataPoints figures, const std::string& where);

/// `scaling`, then `ratios`. The latter contain the numbers of `sideBySide`.
std::vector<ResultTable> tablesOf(DataPoints figures, const std::string& where);

/// Lines over the number of devices, one for each row of the grid, with the ideal. The ideal rate is the rate of one
/// device times the devices; the ideal speed-up is the number of devices; the ideal efficiency is 100 %. Rows of
/// different work (model, image size, classes, head) or of another host get charts of their own. A chart has at most
/// eight lines. Empty if all figures have the same number of devices. REQUIRES: rows of facts and one column of
/// devices, or rows of devices and no column.
std::vector<Chart> scalingCharts(const PivotTable& table, const Grid& grid);

/// Grouped bars: a group for each row, a colour for each column.
std::vector<Chart> barCharts(const PivotTable& table, const Grid& grid);

}  // namespace tandem
