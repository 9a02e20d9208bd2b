#include "measure/record/json_fields.h"

namespace tandem {

using nlohmann::json;

JsonReader::JsonReader(const json& object, std::string where) : object_(object), where_(std::move(where)) {
  expect(object.is_object(), object, where_.empty() ? "record" : where_, "an object");
}

const json& JsonReader::at(const char* name) const {
  const auto found = object_.find(name);
  if (found == object_.end()) throw DataError(concat("record member '", pathOf(name), "' is missing"));
  return *found;
}

void JsonReader::expect(bool holds, const json& stored, const std::string& path, const char* rule) {
  if (!holds) throw DataError(concat("record member '", path, "' is a ", stored.type_name(), ", expected ", rule));
}

void JsonReader::setColumnLength(size_t length, const std::string& path) {
  if (columnLength_.has_value() && *columnLength_ != length) {
    throw DataError(
        concat("record member '", path, "' has ", length, " values, the columns before it ", *columnLength_));
  }
  columnLength_ = length;
}

void JsonReader::decode(const json& stored, const std::string& path, std::string& value) {
  expect(stored.is_string(), stored, path, "a string");
  value = stored.get<std::string>();
}

void JsonReader::decode(const json& stored, const std::string& path, bool& value) {
  expect(stored.is_boolean(), stored, path, "true or false");
  value = stored.get<bool>();
}

void JsonReader::decode(const json& stored, const std::string& path, int64_t& value) {
  const bool fits =
      stored.is_number_integer() && (!stored.is_number_unsigned() || stored.get<uint64_t>() <= uint64_t{INT64_MAX});
  expect(fits, stored, path, "an integer of 64 bits");
  value = stored.get<int64_t>();
}

void JsonReader::decode(const json& stored, const std::string& path, int& value) {
  int64_t wide = 0;
  decode(stored, path, wide);
  expect(wide >= INT32_MIN && wide <= INT32_MAX, stored, path, "an integer of 32 bits");
  value = static_cast<int>(wide);
}

void JsonReader::decode(const json& stored, const std::string& path, double& value) {
  expect(stored.is_number() || stored.is_null(), stored, path, "a number or null");
  value = stored.is_null() ? std::numeric_limits<double>::quiet_NaN() : stored.get<double>();
}

void JsonReader::decode(const json& stored, const std::string& path, Nanos& value) {
  int64_t count = 0;
  decode(stored, path, count);
  value = Nanos(count);
}

void JsonReader::decode(const json& stored, const std::string& path, std::optional<Nanos>& value) {
  value.reset();
  if (!stored.is_null()) decode(stored, path, value.emplace());
}

void JsonReader::expectObject(const json& stored, const std::string& path) {
  expect(stored.is_object(), stored, path, "an object");
}

}  // namespace tandem
