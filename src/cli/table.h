#pragma once

#include <string>
#include <vector>

namespace tandem {

/// Prints rows to standard output, with columns as wide as their longest cell. The first `textColumns` columns are
/// aligned left, the others right, for numbers. Cells are shown as withoutControls() gives them. REQUIRES: at least one
/// row; all rows have equally many cells.
void printTable(std::vector<std::vector<std::string>> rows, size_t textColumns);

}  // namespace tandem
