#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/analysis/data_points.h"
#include "report/tables/result_table.h"

namespace tandem {

/// What a cell starts from. `speedup`: images/s over those of one device, or where only an efficiency was published,
/// that times the devices. `efficiency`: speed-up per device.
enum class Quantity { rate, speedup, efficiency, clock };

enum class CellForm { figure, factor, percent };  ///< 142, 1.93x, 96.42%
enum class Medians { none, columns, overall };

/// How a table is made of figures alone. A cell is the quantity of the figures that agree with `where`, the row's and
/// the column's facts (of several their mean); with a denominator, the quotient of two of them, whose facts are
/// overridden by `numerator` and `denominator`. A quotient that lacks a part is empty.
struct PivotTable {
  std::string name = {}, title = {};
  std::string figures = {};  ///< file of data/published
  Facts where = {};
  std::vector<std::string> rows = {}, columns = {};  ///< facts
  Quantity quantity = Quantity::rate;
  Facts numerator = {}, denominator = {};
  CellForm form = CellForm::figure;
  Medians medians = Medians::none;
  std::string scale = "devices";  ///< the fact that counts devices
};

struct Grid {
  std::vector<std::vector<std::string>> rows, columns;  ///< values of the facts
  std::vector<std::vector<std::optional<double>>> cells;
  std::vector<std::vector<std::string>> remarks;  ///< why a cell is empty ("error"), or the caveat of its value
  std::vector<std::string> notes;

  /// All cells that have a value.
  std::vector<double> values() const;
  /// The same of one column.
  std::vector<double> values(size_t column) const;
};

Grid compute(const PivotTable& table, const DataPoints& figures);

/// The grid as text. The median of columns is the last row, the overall one a note. A value with a caveat is marked
/// with a star, and a note says why.
ResultTable shown(const PivotTable& table, const Grid& grid);

/// "1.93x", "96.42%", "142".
std::string cellText(CellForm form, double value);

}  // namespace tandem
