#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/analysis/data_points.h"
#include "report/tables/result_table.h"

namespace tandem {

/// The quantity of a cell. `speedup`: images/s divided by those of one device; if only an efficiency was published,
/// that times the devices. `efficiency`: speed-up per device.
enum class Quantity { rate, speedup, efficiency, clock };

enum class CellForm { figure, factor, percent };  ///< 142, 1.93x, 96.42%
enum class Medians { none, columns, overall };

/// How a table follows from figures alone. A cell is the quantity of the figures that agree with `where` and with the
/// facts of its row and column; several figures are averaged, and quotients of such have an interval. With a
/// denominator, a cell is a quotient. `numerator` and `denominator` then override facts of the two parts. A quotient
/// without one of its parts is empty.
struct PivotTable {
  std::string name = {}, title = {};
  std::string figures = {};  ///< file of data/published
  Facts where = {};
  std::vector<std::string> rows = {}, columns = {};  ///< facts
  Quantity quantity = Quantity::rate;
  Facts numerator = {}, denominator = {};
  CellForm form = CellForm::figure;
  Medians medians = Medians::none;
  std::string scale = "devices";  ///< name of the fact that counts devices
};

struct Grid {
  std::vector<std::vector<std::string>> rows, columns;  ///< values of the facts
  std::vector<std::vector<std::optional<double>>> cells;
  /// Of quotients of repeated figures: half of the 95 % interval, in percent of the value (Welch).
  std::vector<std::vector<std::optional<double>>> halfWidths;
  std::vector<std::vector<std::string>> remarks;  ///< why a cell is empty ("error"), or the caveat of its value
  std::vector<std::string> notes;

  /// The values of all cells that have one.
  std::vector<double> values() const;
  /// The values of one column.
  std::vector<double> values(size_t column) const;
};

Grid gridOf(const PivotTable& table, const DataPoints& figures);

/// The grid as text. The median of columns is the last row; the overall median is a note. A value with a caveat has a
/// star, and a note says why.
ResultTable gridTable(const PivotTable& table, const Grid& grid);

/// "1.93x", "96.42%", "142".
std::string cellText(CellForm form, double value);

}  // namespace tandem
