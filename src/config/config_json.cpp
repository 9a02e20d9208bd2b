#include "config/config_json.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "config/option.h"

namespace tandem {
namespace {

using nlohmann::json;

bool fits(const json& value, int64_t) {
  const bool tooLarge = value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX};
  return value.is_number_integer() && !tooLarge;
}
bool fits(const json& value, double) { return value.is_number(); }
bool fits(const json& value, bool) { return value.is_boolean(); }
bool fits(const json& value, const std::string&) { return value.is_string(); }

const char* typeName(int64_t) { return "a whole number"; }
const char* typeName(double) { return "a number"; }
const char* typeName(bool) { return "true or false"; }
const char* typeName(const std::string&) { return "a text"; }

template <class Value>
void read(Value& field, const std::string& name, const json& value) {
  if (!fits(value, field)) {
    const std::string given = value.dump(-1, ' ', true, json::error_handler_t::replace);
    throw DataError(concat("configuration: member '", name, "' is ", given, " and must be ", typeName(field)));
  }
  field = value.get<Value>();
}

/// Current name of an option that an earlier version called `name`.
std::string_view currentName(const std::string& name) {
  const auto renamed = std::ranges::find_if(aliases(), [&](const Alias& alias) {
    return alias.name == name && alias.value.empty() && !alias.option.empty();
  });
  return renamed == aliases().end() ? std::string_view(name) : renamed->option;
}

}  // namespace

json toJson(const Config& config) {
  json object = json::object();
  for (const Option& option : options()) {
    if ((option.commands & inRecords) == 0) continue;
    auto& member = object[std::string(option.name)];
    std::visit([&](auto field) { member = field.read(config); }, option.field);
    if (const auto name = nameOfValue(config, option); !name.empty()) member = name;
  }
  return object;
}

Config configFromJson(const json& object) {
  if (!object.is_object()) throw DataError(concat("configuration: must be an object and is ", object.type_name()));
  Config config;
  for (const auto& [name, value] : object.items()) {
    const Option* option = findOption(currentName(name));
    if (option == nullptr) {
      throw DataError(concat("configuration: unknown member '", name, "'; members are the options of this version"));
    }
    if (value.is_string() && setNamedValue(config, *option, value.get<std::string>())) continue;
    std::visit([&, &name = name, &value = value](auto field) { read(field.change(config), name, value); },
               option->field);
  }
  return config;
}

}  // namespace tandem
