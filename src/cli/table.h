#pragma once

#include <string>
#include <vector>

namespace tandem {

/// Prints rows with columns as wide as their longest cell: the first `textColumns` stand on the left, the rest,
/// numbers, on the right. REQUIRES: a row; all have as many cells.
void printTable(const std::vector<std::vector<std::string>>& rows, size_t textColumns);

}  // namespace tandem
