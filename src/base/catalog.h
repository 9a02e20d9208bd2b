#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace tandem {

/// A catalog is an explicit static table of rows that have a `name`. Each thing that can be added to Tandem is a row of
/// a catalog.
template <class Entry>
std::vector<std::string> namesOf(std::span<const Entry> catalog) {
  std::vector<std::string> names;
  for (const Entry& entry : catalog) names.emplace_back(entry.name);
  return names;
}

/// "unknown KIND 'NAME'; did you mean 'NEAR'? valid: a, b, c"
std::string unknownName(std::string_view kind, std::string_view name, std::span<const std::string> valid);
/// The same with a text instead of the names.
std::string unknownName(std::string_view kind, std::string_view name, std::span<const std::string> valid,
                        std::string_view validText);

/// Returns the row called `name`. Throws UsageError that lists the valid names and suggests the nearest one.
template <class Entry>
const Entry& find(std::span<const Entry> catalog, std::string_view name, std::string_view kind) {
  for (const Entry& entry : catalog) {
    if (entry.name == name) return entry;
  }
  const auto valid = namesOf(catalog);
  throw UsageError(unknownName(kind, name, valid));
}

}  // namespace tandem
