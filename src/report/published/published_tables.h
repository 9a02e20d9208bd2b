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

/// How each table of the documents in data/published follows from their raw figures: the rows of data/tables.csv.
std::span<const PivotTable> publishedTables();

/// A contradiction in a document or with its source. It concerns a cell of a derived table, or the whole table if `row`
/// is empty.
struct Remark {
  std::string table, row, column;
  std::string printed;  ///< printed value of that cell, if the figures give another one; or empty
  std::string text;
};

/// The rows of data/remarks.csv.
std::vector<Remark> publishedRemarks();

/// Returns the raw figures of a file of data/published.
using DataPointsOf = std::function<DataPoints(std::string_view)>;

/// The recomputed tables with their remarks, in the order of publishedTables(), then sheetObservations().
std::vector<ResultTable> recomputedPublishedTables(const DataPointsOf& dataPointsOf);

/// The observations in the sheet of the official TensorFlow benchmarks, recomputed from its figures.
ResultTable sheetObservations(const DataPointsOf& dataPointsOf);

}  // namespace tandem
