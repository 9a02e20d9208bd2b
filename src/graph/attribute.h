#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace tandem {

/// A row of the attributes: its name in network files and in the catalog of operations, and the place of its values.
/// Exactly one of the three is set.
struct AttributeEntry {
  std::string_view name;
  std::vector<int64_t*> (*whole)(Attributes&);  ///< one or more values; in a file one number applies to all
  double Attributes::*number;
  bool Attributes::*flag;
};

std::span<const AttributeEntry> attributes();

/// The rows that the operation reads, in the order of the table.
std::vector<const AttributeEntry*> attributesOf(const Operation& operation);

}  // namespace tandem
