#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tandem {

/// A line, or the bars of one colour.
struct ChartSeries {
  std::string name;
  std::vector<double> values;             ///< in the unit of the chart's `y`; NaN: a gap
  std::vector<std::string> remarks = {};  ///< the caveat of each value, empty without one; no entries: no caveats
  bool ideal = false;                     ///< the reference for the other series
  std::vector<double> at = {};            ///< of each value; no entries: those of the chart
  int like = -1;                          ///< index of a series whose colour it has too, dashed; -1: its own colour
};

/// A range of the x axis, such as a phase of a run. from == to is a mark.
struct ChartBand {
  std::string name;
  double from, to;
};

/// How a chart is drawn. src/report/page/configs.js has one function for each.
enum class ChartKind {
  scaling,    ///< lines over `at`, from zero
  time,       ///< lines over `at` without points, the bands behind them
  bars,       ///< a group of bars for each of `labels`
  parts,      ///< stacked bars, one for each of `labels`
  histogram,  ///< bars over `at` that touch, the bands as marks
  curves,     ///< lines over `at`, with points where they are few
  matrix,     ///< a cell for each two of `labels`; the series are its rows, each in the shares of its sum
};

std::string_view nameOf(ChartKind kind);

/// A picture of the numbers of a table. Every series has a value for each entry of its own `at`, or else of the chart's
/// `at` or `labels`.
struct Chart {
  ChartKind kind;
  std::string title;  ///< empty if the table's title says it
  std::string x, y;   ///< titles of the axes with units
  std::vector<double> at = {};
  std::vector<std::string> labels = {};
  std::vector<ChartSeries> series = {};
  std::vector<ChartBand> bands = {};
  std::string caveat = {};  ///< a caveat on the whole chart
  bool fromZero = true;     ///< whether the y axis starts at zero
};

/// ASCII JSON for a script element. Texts are as visibleText() gives them, values have five significant digits, a gap
/// is null.
std::string jsonOf(const Chart& chart);

}  // namespace tandem
