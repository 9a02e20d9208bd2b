#include "report/published/published.h"

#include <algorithm>

#include "base/catalog.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr std::string_view folder = "published/";

bool hasWord(const Facts& figure, const std::string& word) {
  return std::ranges::any_of(
      figure, [&](const auto& fact) { return lowered(fact.second).find(lowered(word)) != std::string::npos; });
}

}  // namespace

CsvTable dataTable(std::string_view name) {
  return parseCsv(find(dataFiles(), name, "data file").text, concat("data/", name, ".csv"));
}

DataPoints publishedFigures(std::string_view name) {
  const std::string path = concat(folder, name);
  return dataPointsFrom(dataTable(path), path);
}

DataPoints allPublished() {
  DataPoints all;
  for (const DataFile& file : dataFiles()) {
    if (!file.name.starts_with(folder)) continue;
    DataPoints figures = publishedFigures(file.name.substr(folder.size()));
    for (const std::string& column : figures.columns) {
      if (!all.has(column)) all.columns.push_back(column);
    }
    std::ranges::move(figures.rows, std::back_inserter(all.rows));
  }
  return all;
}

DataPoints publishedWith(std::span<const std::string> words) {
  DataPoints figures = allPublished();
  std::erase_if(figures.rows, [&](const Facts& figure) {
    return !std::ranges::all_of(words, [&](const std::string& word) { return hasWord(figure, word); });
  });
  return figures;
}

}  // namespace tandem
