#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/analysis/data_points.h"
#include "report/analysis/pivot_table.h"
#include "report/tables/result_table.h"

namespace tandem {

/// How every table of the documents in data/published is made of their raw figures: the rows of data/tables.csv.
std::span<const PivotTable> publishedTables();

/// What a document says against itself or its source, about a cell of a derived table or (row empty) about all of it.
struct Remark {
  std::string table, row, column;
  std::string printed;  ///< what it prints for that cell, when the figures give something else; or empty
  std::string text;
};

/// The rows of data/remarks.csv.
std::vector<Remark> remarks();

/// Where raw figures come from, by file of data/published.
using DataPointsOf = std::function<DataPoints(std::string_view)>;

/// The tables computed anew, in the order of publishedTables() and with the remarks on them, then sheetObservations().
std::vector<ResultTable> recomputedPublishedTables(const DataPointsOf& dataPointsOf);

/// What the sheet of the official TensorFlow benchmarks observes, computed from its figures.
ResultTable sheetObservations(const DataPointsOf& dataPointsOf);

}  // namespace tandem
