#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tandem {

/// A line, or the bars of one colour.
struct ChartSeries {
  std::string name;
  std::vector<double> values;             ///< in the unit of the chart's `y`; NaN: a gap
  std::vector<std::string> remarks = {};  ///< the caveat of each value, empty without; no remarks at all: none
  bool ideal = false;                     ///< what the others are held against
};

/// A stretch of the x axis, as a phase of a run; from == to is a mark.
struct ChartBand {
  std::string name;
  double from, to;
};

/// How a chart is drawn; the page has one function for each (src/report/page/configs.js).
enum class ChartKind {
  scaling,    ///< lines over `at`, from zero
  time,       ///< lines over `at` without points, the bands behind them
  bars,       ///< a group of bars for each of `labels`
  parts,      ///< stacked bars, one for each of `labels`
  histogram,  ///< bars over `at` that touch, the bands as marks
};

std::string_view nameOf(ChartKind kind);

/// The numbers of a table as a picture. Every series has a value for each of `at` or `labels`.
struct Chart {
  ChartKind kind;
  std::string title;  ///< empty where the table's says it
  std::string x, y;   ///< what the axes show, with its unit
  std::vector<double> at = {};
  std::vector<std::string> labels = {};
  std::vector<ChartSeries> series = {};
  std::vector<ChartBand> bands = {};
  std::string caveat = {};  ///< what must be known beside all of it
  bool fromZero = true;     ///< the y axis
};

/// As ASCII JSON for a script element; text as visible() gives it, values of five significant digits, a gap is null.
std::string jsonOf(const Chart& chart);

}  // namespace tandem
