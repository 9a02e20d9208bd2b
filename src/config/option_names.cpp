#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "config/network_path.h"
#include "config/option.h"

namespace tandem {
namespace {

constexpr size_t mostListed = 12;  // names of a catalog, in one line

const CatalogNames::Row& rowOf(const CatalogNames& names, const Option& option) {
  const auto row = std::ranges::find(names.rows, option.name, &CatalogNames::Row::option);
  check(row != names.rows.end(), "CatalogNames lacks a catalog");
  return *row;
}

}  // namespace

const Option* findOption(std::string_view name) {
  const auto row = std::ranges::find(options(), name, &Option::name);
  return row == options().end() ? nullptr : &*row;
}

std::span<const std::string> CatalogNames::of(const Option& option) const {
  if (option.values == Values::any) return {};
  return rowOf(*this, option).names;
}

std::string defaultText(const Option& option) {
  return option.derived.empty() ? valueText(Config(), option) : std::string(option.derived);
}

bool isFile(const Option& option, std::string_view value) {
  return option.values == Values::namesOrFile && isNetworkPath(value);
}

std::vector<std::string> validValues(const Option& option, const CatalogNames& names) {
  const auto catalog = names.of(option);
  std::vector<std::string> valid(catalog.begin(), catalog.end());
  const std::string standard = valueText(Config(), option);
  const bool ownWord = option.values != Values::any && std::ranges::find(valid, standard) == valid.end();
  if (ownWord) valid.insert(valid.begin(), standard);
  return valid;
}

std::string validValuesText(const Option& option, const CatalogNames& names) {
  const auto valid = validValues(option, names);
  const bool isLong = valid.size() > mostListed;
  return isLong ? concat("the names of 'tandem list ", rowOf(names, option).list, "'") : join(valid);
}

}  // namespace tandem
