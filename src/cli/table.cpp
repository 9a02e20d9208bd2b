#include "cli/table.h"

#include <algorithm>
#include <iostream>

#include "base/utf8.h"

namespace tandem {

void printTable(std::vector<std::vector<std::string>> rows, size_t textColumns) {
  for (auto& row : rows) {
    for (std::string& cell : row) cell = withoutControls(cell);
  }
  std::vector<size_t> width(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string fill(width[i] - row[i].size(), ' ');
      line += (i > 0 ? "  " : "") + (i < textColumns ? row[i] + fill : fill + row[i]);
    }
    std::cout << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
  }
}

}  // namespace tandem
