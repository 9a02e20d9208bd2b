#include "formats/dataset/label_table.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

#include "base/utf8.h"
#include "formats/dataset/csv.h"
#include "formats/io/json_structure.h"

namespace tandem {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 6> fileNames{"file", "image", "filename", "file_name", "path", "Image Index"};
constexpr std::array<std::string_view, 4> labelNames{"label", "class", "labels", "Finding Labels"};
constexpr std::string_view bar = "|";
constexpr JsonLimits structure{.deepest = 2, .mostMembers = 100'000'000};

template <size_t N>
std::optional<size_t> columnOf(const Csv& table, const std::array<std::string_view, N>& names) {
  const auto found = std::ranges::find_first_of(table.columns, names);
  if (found == table.columns.end()) return std::nullopt;
  return static_cast<size_t>(found - table.columns.begin());
}

/// Parts between bars; an empty cell has none.
std::vector<std::string> labelsOf(const std::string& cell) {
  return cell.empty() ? std::vector<std::string>() : split(cell, bar);
}

Result<LabelTable> fromLabels(const Csv& csv, size_t file, size_t label) {
  LabelTable table;
  for (const Csv::Row& row : csv.rows) {
    table.rows.push_back({row.cells[file], labelsOf(row.cells[label]), concat("line ", row.line)});
    table.several = table.several || table.rows.back().labels.size() > 1;
  }
  return table;
}

/// A column of 0 and 1 for each class.
Result<LabelTable> fromFlags(const Csv& csv, size_t file) {
  LabelTable table{.rows = {}, .classes = csv.columns, .several = true};
  table.classes.erase(table.classes.begin() + static_cast<std::ptrdiff_t>(file));
  if (std::set(table.classes.begin(), table.classes.end()).size() != table.classes.size()) {
    return parseError(0, "line 1 names a column twice; it has ", escaped(join(csv.columns)));
  }
  for (const Csv::Row& row : csv.rows) {
    LabelTable::Row& added = table.rows.emplace_back();
    added.file = row.cells[file], added.place = concat("line ", row.line);
    for (size_t column = 0; column < row.cells.size(); ++column) {
      if (column == file || row.cells[column] == "0") continue;
      if (row.cells[column] != "1") {
        return parseError(0, "line ", row.line, ": column '", escaped(csv.columns[column]), "' is '",
                          escaped(row.cells[column]), "'; it must be 0 or 1, or the table needs a column 'label'");
      }
      added.labels.push_back(csv.columns[column]);
    }
  }
  return table;
}

/// The text of one label; none for what cannot be one.
std::optional<std::string> labelText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.dump();
  return std::nullopt;
}

std::optional<ParseError> addRow(const std::string& file, const Json& value, LabelTable& table) {
  LabelTable::Row& row = table.rows.emplace_back();
  row.file = file;
  table.several = table.several || value.is_array();
  const auto add = [&](const Json& each) -> std::optional<ParseError> {
    auto label = labelText(each);
    if (!label) {
      return parseError(0, "the label of '", escaped(file), "' is ", each.type_name(),
                        "; it must be a whole number, a text, or a list of these");
    }
    row.labels.push_back(std::move(*label));
    return std::nullopt;
  };
  if (!value.is_array()) return add(value);
  for (const Json& each : value) {
    if (auto fault = add(each)) return fault;
  }
  return std::nullopt;
}

}  // namespace

Result<LabelTable> parseLabelCsv(std::span<const uint8_t> bytes) {
  const auto csv = parseCsv(bytes);
  if (!csv) return csv.error();
  const auto file = columnOf(csv.value(), fileNames), label = columnOf(csv.value(), labelNames);
  if (!file) {
    return parseError(0, "line 1 names no column of files; it has ", escaped(join(csv.value().columns)),
                      ", and needs one of file, image, filename, path");
  }
  if (csv.value().columns.size() < 2) return parseError(0, "line 1 names no column of labels; add 'label'");
  return label ? fromLabels(csv.value(), *file, *label) : fromFlags(csv.value(), *file);
}

bool isColumnName(std::string_view name) {
  return std::ranges::find(fileNames, name) != fileNames.end() ||
         std::ranges::find(labelNames, name) != labelNames.end();
}

Result<LabelTable> parseLabelJson(std::span<const uint8_t> bytes) {
  Json parsed;
  try {
    parsed = parseJson<Json>(bytes, structure);
  } catch (const JsonRefusal& refusal) {
    return parseError(refusal.offset, refusal.text);
  } catch (const Json::exception&) {
    return parseError(0, "it is no JSON");
  }
  if (!parsed.is_object())
    return parseError(0, "it is ", parsed.type_name(), "; it must be an object {\"file\": label}");
  LabelTable table;
  for (const auto& [file, value] : parsed.items()) {
    if (auto fault = addRow(file, value, table)) return *fault;
  }
  return table;
}

}  // namespace tandem
