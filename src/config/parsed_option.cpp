#include "config/parsed_option.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "config/value_list.h"

namespace tandem {
namespace {

bool equalInAnyCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

const Alias* findAlias(std::string_view name, std::string_view value) {
  const auto rows = aliases();
  const auto row = std::ranges::find_if(
      rows, [&](const Alias& alias) { return alias.name == name && equalInAnyCase(alias.value, value); });
  return row == rows.end() ? nullptr : &*row;
}

/// The option of a name: the name's own, or that of an alias with this name. Null if there is none.
const Option* optionBehind(std::string_view name) {
  if (const Option* own = findOption(name)) return own;
  for (const Alias& alias : aliases()) {
    if (alias.name == name && !alias.option.empty()) return findOption(alias.option);
  }
  return nullptr;
}

bool passesAnyValue(std::string_view name) { return findOption(name) != nullptr || findAlias(name, "") != nullptr; }

std::string valuesOf(std::string_view name) {
  std::vector<std::string> values;
  for (const Alias& alias : aliases()) {
    if (alias.name == name) values.emplace_back(alias.value);
  }
  return join(values, " or ");
}

const Alias* rowFor(const TypedOption& typed, const Option* option, const std::string& value) {
  if (value.empty()) return nullptr;
  if (const Alias* row = findAlias(typed.name, value)) return row;
  return option != nullptr ? findAlias(option->name, value) : nullptr;
}

bool isBuilt(const Option* option, const std::string& value, const CatalogNames& names) {
  if (option == nullptr) return false;
  const auto valid = validValues(*option, names);
  return std::ranges::find(valid, value) != valid.end();
}

void addValue(ResolvedOption& resolved, const TypedOption& typed, const std::string& value, const CatalogNames& names) {
  const Option* option = optionBehind(typed.name);
  const Alias* row = rowFor(typed, option, value);
  if (row != nullptr && !row->refusal.empty() && isBuilt(option, value, names)) row = nullptr;
  if (row == nullptr) {
    if (!passesAnyValue(typed.name)) {
      throw UsageError(concat("--", typed.name, "=", value, ": must be ", valuesOf(typed.name)));
    }
    resolved.values.push_back(value);
    return;
  }
  if (!row->refusal.empty()) throw UsageError(concat("--", typed.name, "=", value, " ", row->refusal));
  resolved.values.emplace_back(row->optionValue);
  if (!row->note.empty()) resolved.notes.push_back(concat("--", typed.name, ": ", row->note));
}

}  // namespace

bool isFlag(std::string_view name) {
  const Option* option = optionBehind(name);
  const bool isBool = option != nullptr && takes<bool>(*option);
  return isBool || findAlias(name, "true") != nullptr;
}

std::vector<std::string> typableNames(unsigned command) {
  std::vector<std::string> names;
  for (const Option& option : options()) {
    if (option.commands & command) names.emplace_back(option.name);
  }
  for (const Alias& alias : aliases()) {
    const Option* option = optionBehind(alias.name);
    const bool taken = option == nullptr || (option->commands & command) != 0;
    if (taken && std::ranges::find(names, alias.name) == names.end()) names.emplace_back(alias.name);
  }
  return names;
}

ResolvedOption resolve(const TypedOption& typed, const CatalogNames& names) {
  const Option* option = optionBehind(typed.name);
  ResolvedOption resolved;
  for (const std::string& value : listedValues(typed, option)) addValue(resolved, typed, value, names);
  if (!resolved.values.empty()) resolved.option = option;
  return resolved;
}

}  // namespace tandem
