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

/// What was typed, all of it: some aliases count only beside another option.
using Line = std::span<const TypedOption>;

bool counts(const Alias& alias, Line line) {
  return alias.with.name.empty() || std::ranges::any_of(line, [&](const TypedOption& typed) {
           return typed.name == alias.with.name && equalInAnyCase(typed.value, alias.with.value);
         });
}

const Alias* findAlias(std::string_view name, std::string_view value, Line line = {}) {
  const auto rows = aliases();
  const auto row = std::ranges::find_if(rows, [&](const Alias& alias) {
    return alias.name == name && equalInAnyCase(alias.value, value) && counts(alias, line);
  });
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

bool isTrueOrFalse(std::string_view value) { return equalInAnyCase(value, "true") || equalInAnyCase(value, "false"); }

/// Whether a value without a row of its own is good: an option checks it, and a flag of another program that is not
/// mentioned asks for nothing.
bool needsNoRow(std::string_view name, const std::string& value) {
  return findOption(name) != nullptr || (isFlag(name) && isTrueOrFalse(value));
}

std::string valuesOf(std::string_view name) {
  if (isFlag(name)) return "true or false";
  std::vector<std::string> values;
  for (const Alias& alias : aliases()) {
    if (alias.name == name) values.emplace_back(alias.value);
  }
  return join(values, " or ");
}

const Alias* rowFor(const TypedOption& typed, const Option* option, const std::string& value, Line line) {
  if (const Alias* row = findAlias(typed.name, value, line)) return row;
  if (const Alias* row = option != nullptr ? findAlias(option->name, value, line) : nullptr) return row;
  return findAlias(typed.name, "", line);
}

bool isBuilt(const Option* option, const std::string& value, const CatalogNames& names) {
  if (option == nullptr) return false;
  const auto valid = validValues(*option, names);
  return std::ranges::find(valid, value) != valid.end();
}

std::string valueOf(const Alias& row, const std::string& value) {
  if (!row.devices.empty()) return concat(row.devices, join(split(value, ","), "+"));
  return row.optionValue.empty() ? value : std::string(row.optionValue);
}

/// Whether a refused flag of another program is switched off.
bool asksForNothing(const Alias& row, std::string_view value) {
  return !row.refusal.empty() && row.value.empty() && value == "0";
}

void addValue(ResolvedOption& resolved, const TypedOption& typed, const std::string& value, const CatalogNames& names,
              Line line) {
  const Option* option = optionBehind(typed.name);
  const Alias* row = rowFor(typed, option, value, line);
  if (row != nullptr && !row->refusal.empty() && isBuilt(option, value, names)) row = nullptr;
  if (row == nullptr) {
    if (!needsNoRow(typed.name, value)) {
      throw UsageError(concat("--", typed.name, "=", value, ": must be ", valuesOf(typed.name)));
    }
    if (findOption(typed.name) != nullptr) resolved.values.push_back(value);
    return;
  }
  if (asksForNothing(*row, value)) return;
  if (!row->refusal.empty()) throw UsageError(concat("--", typed.name, "=", value, " ", row->refusal));
  if (!row->option.empty()) resolved.values.push_back(valueOf(*row, value));
  if (!row->note.empty()) resolved.notes.push_back(concat("--", typed.name, ": ", row->note));
}

/// As addValue(), for a list by size: each name in it may be an alias.
void addBySize(ResolvedOption& resolved, const TypedOption& typed, const std::string& value, const CatalogNames& names,
               Line line) {
  std::vector<std::string> parts = split(value, ":");
  for (size_t i = 0; i < parts.size(); i += 2) {
    ResolvedOption part;
    addValue(part, typed, parts[i], names, line);
    if (!part.values.empty()) parts[i] = part.values.front();
    resolved.notes.insert(resolved.notes.end(), part.notes.begin(), part.notes.end());
  }
  const Alias* const whole = findAlias(typed.name, "");
  if (whole != nullptr && !whole->note.empty()) resolved.notes.push_back(concat("--", typed.name, ": ", whole->note));
  resolved.values.push_back(join(parts, ":"));
}

/// The items of the value: one if the whole list is a set of devices.
std::vector<std::string> itemsOf(const TypedOption& typed, const Option* option) {
  const Alias* row = findAlias(typed.name, "");
  const bool whole = row != nullptr && (row->option.empty() || !row->devices.empty());
  return whole ? std::vector{typed.value} : listedValues(typed, option);
}

}  // namespace

bool isFlag(std::string_view name) {
  const Option* option = optionBehind(name);
  const bool isBool = option != nullptr && takes<bool>(*option);
  return isBool || findAlias(name, "true") != nullptr || findAlias(name, "false") != nullptr;
}

bool leadsToOption(std::string_view name) { return optionBehind(name) != nullptr; }

std::vector<std::string> typableNames(unsigned command) {
  std::vector<std::string> names;
  for (const Option& option : options()) {
    if (option.commands & command) names.emplace_back(option.name);
  }
  for (const Alias& alias : aliases()) {
    const Option* option = optionBehind(alias.name);
    const bool taken = ((option == nullptr ? unsigned{onBench} : option->commands) & command) != 0;
    if (taken && std::ranges::find(names, alias.name) == names.end()) names.emplace_back(alias.name);
  }
  return names;
}

ResolvedOption resolve(const TypedOption& typed, const CatalogNames& names, std::span<const TypedOption> line) {
  const Option* option = optionBehind(typed.name);
  ResolvedOption resolved;
  for (const std::string& value : itemsOf(typed, option)) {
    const bool bySize = option != nullptr && option->values == Values::namesBySize;
    const auto add = bySize && value.find(':') != value.npos ? addBySize : addValue;
    add(resolved, typed, value, names, line);
  }
  if (!resolved.values.empty()) resolved.option = option;
  return resolved;
}

}  // namespace tandem
