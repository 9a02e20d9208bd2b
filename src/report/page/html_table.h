#pragma once

#include <ostream>
#include <string>

#include "report/tables/result_table.h"

namespace tandem {

/// The charts of a table, the table and its notes as HTML. `name` says what it is where it has no title.
void printTable(const ResultTable& table, const std::string& name, std::ostream& out);

}  // namespace tandem
