#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/io/result.h"

namespace tandem {

/// Files with their labels, as texts.
struct LabelTable {
  struct Row {
    std::string file;
    std::vector<std::string> labels;
    std::string place;  ///< for messages: "line 7"; empty where the file's name says it
  };
  std::vector<Row> rows;
  std::vector<std::string> classes;  ///< where a table names them in its first line
  bool several = false;              ///< whether a file may have any number of labels
};

/// A CSV with a column `file` (also image, filename, path or 'Image Index') and either one `label` (also class, labels
/// or 'Finding Labels'), whose cells may hold several between bars, or a column for each class with 0 or 1. Other
/// columns beside a `label` are passed over.
Result<LabelTable> parseLabelCsv(std::span<const uint8_t> bytes);

/// Whether parseLabelCsv() takes a column of this name for that of files or of labels, and not for a class.
bool isColumnName(std::string_view name);

/// A JSON object {"file": label}. A label is a whole number, a text, or a list of either.
Result<LabelTable> parseLabelJson(std::span<const uint8_t> bytes);

}  // namespace tandem
