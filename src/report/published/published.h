#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/analysis/csv_table.h"
#include "report/analysis/data_points.h"

namespace tandem {

/// A CSV file of data/, compiled in. Its name is the path below data/ without the ending.
struct DataFile {
  std::string_view name, text;
};

/// All files, sorted by name.
/// - published/...: the figures of others, one file per experiment.
/// - tables: how the tables of a document follow from such figures.
/// - remarks: where a document contradicts itself or its source.
std::span<const DataFile> dataFiles();

CsvTable dataTable(std::string_view name);

/// The figures of published/NAME.
DataPoints publishedFigures(std::string_view name);

/// The figures of all files, each with its source.
DataPoints allPublished();

/// The figures that have every one of `words` in one of their facts; letter case does not matter.
DataPoints publishedWith(std::span<const std::string> words);

}  // namespace tandem
