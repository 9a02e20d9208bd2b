#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "base/catalog.h"
#include "base/error.h"
#include "base/text.h"
#include "config/by_size.h"
#include "config/network_path.h"
#include "config/option.h"

namespace tandem {
namespace {

constexpr const char* orFileRule = ", or the path of a file, which ends in .json or .onnx";
constexpr size_t mostListed = 12;  // names of a catalog, in one line

const CatalogNames::Row& rowOf(const CatalogNames& names, const Option& option) {
  const auto row = std::ranges::find(names.rows, option.name, &CatalogNames::Row::option);
  check(row != names.rows.end(), "CatalogNames lacks a catalog");
  return *row;
}

struct Refusal {
  std::string rule;
};

template <class Number>
Number parseNumber(std::string_view text, const char* rule) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) throw Refusal{"is beyond the range of numbers"};
  if (error != std::errc() || end != text.data() + text.size()) throw Refusal{rule};
  return value;
}

void parseInto(int64_t& field, std::string_view text) { field = parseNumber<int64_t>(text, "must be a whole number"); }

void parseInto(double& field, std::string_view text) {
  const auto value = parseNumber<double>(text, "must be a number");
  if (!std::isfinite(value)) throw Refusal{"must be a finite number"};
  field = value;
}

void parseInto(bool& field, std::string_view text) {
  const std::string lower = lowered(text);
  if (lower != "true" && lower != "false") throw Refusal{"must be true or false"};
  field = lower == "true";
}

void parseInto(std::string& field, std::string_view text) { field = text; }

std::string textOf(int64_t value) { return std::to_string(value); }
std::string textOf(bool value) { return value ? "true" : "false"; }
std::string textOf(const std::string& value) { return value; }

std::string textOf(double value) {
  std::array<char, 64> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general).ptr;
  return std::string(buffer.data(), end);
}

/// Of a list by size, in which no word stands but the names of the catalog.
void requireKnownBySize(const Option& option, std::string_view text, const CatalogNames& names) {
  if (text.find('#') != text.npos) throw Refusal{"has no shards (#N); --bucket-mib says how large the pieces are"};
  const auto all = parseBySize(text);
  if (!all) {
    throw Refusal{"must be a name, or names with growing sizes in bytes between them, as tree:32k:ring"};
  }
  const auto catalog = names.of(option);
  for (const std::string& name : all->names) {
    if (std::ranges::find(catalog, name) == catalog.end()) {
      throw UsageError(unknownName(option.name, name, {catalog.begin(), catalog.end()}));
    }
  }
}

/// Names the file that may be meant, if it is there.
std::string orFileText(const Option& option, std::string_view text) {
  for (const std::string_view ending : {".json", ".onnx"}) {
    const std::string file = concat(text, ending);
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(file, unknown)) continue;
    return concat(orFileRule, "; did you mean --", option.name, '=', file, '?');
  }
  return orFileRule;
}

void requireKnown(const Option& option, std::string_view text, const CatalogNames& names) {
  if (option.values == Values::any || isFile(option, text)) return;
  if (option.values == Values::namesBySize && text.find_first_of(":#") != text.npos) {
    return requireKnownBySize(option, text, names);
  }
  if (option.values == Values::namesWithText) text = text.substr(0, text.find(':'));
  if (option.values == Values::namesOrChain && text.find_first_of(":+") != text.npos) return;
  const auto valid = validValues(option, names);
  if (std::ranges::find(valid, text) != valid.end()) return;
  const std::string orFile = option.values == Values::namesOrFile ? orFileText(option, text) : "";
  throw UsageError(unknownName(option.name, text, valid, concat(validValuesText(option, names), orFile)));
}

}  // namespace

std::string_view nameOfValue(const Config& config, const Option& option) {
  const auto isNamed = [&](const auto& field) {
    if constexpr (std::is_same_v<decltype(field), const FieldOf<int64_t>&>)
      return field.read(config) == option.named.value;
    if constexpr (std::is_same_v<decltype(field), const FieldOf<std::string>&>) return field.read(config).empty();
    return false;
  };
  return !option.named.name.empty() && std::visit(isNamed, option.field) ? option.named.name : std::string_view();
}

bool setNamedValue(Config& config, const Option& option, std::string_view text) {
  if (option.named.name.empty() || text != option.named.name) return false;
  if (const auto* number = std::get_if<FieldOf<int64_t>>(&option.field)) number->change(config) = option.named.value;
  if (const auto* words = std::get_if<FieldOf<std::string>>(&option.field)) words->change(config).clear();
  return true;
}

std::string valueText(const Config& config, const Option& option) {
  if (const auto name = nameOfValue(config, option); !name.empty()) return std::string(name);
  return std::visit([&](auto field) { return textOf(field.read(config)); }, option.field);
}

void setValue(Config& config, const Option& option, std::string_view text, const CatalogNames& names) {
  Config changed = config;
  try {
    requireKnown(option, text, names);
    if (setNamedValue(config, option, text)) return;
    std::visit([&](auto field) { parseInto(field.change(changed), text); }, option.field);
    const auto breach = option.check != nullptr ? option.check(changed) : std::nullopt;
    if (breach) throw Refusal{*breach};
  } catch (const Refusal& refusal) {
    const std::string orName = option.named.name.empty() ? "" : concat(", or ", option.named.name);
    throw UsageError(concat("--", option.name, "=", text, ": ", refusal.rule, orName));
  }
  config = std::move(changed);
}

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
