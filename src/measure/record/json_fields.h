#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"

namespace tandem {

/// JsonWriter and JsonReader are two archives over one description. `describe(archive, value)` names every member once;
/// the archives walk it in the two directions. Texts are written as asUtf8() gives them. REQUIRES: `describe` is
/// visible before the archive's first use.
class JsonWriter {
 public:
  template <class Value>
  using Ref = const Value&;

  template <class Value>
  void field(const char* name, const Value& value) {
    object_[name] = encode(value);
  }

  /// Like field(), but stores `unmeasured` as null.
  template <class Value>
  void measured(const char* name, const Value& value, const Value& unmeasured = {}) {
    object_[name] = value == unmeasured ? nlohmann::json() : encode(value);
  }

  /// Like measured(), for a member that older records lack.
  template <class Value>
  void added(const char* name, const Value& value, const Value& unmeasured = {}) {
    measured(name, value, unmeasured);
  }

  template <class Value>
  void object(const char* name, const Value& value) {
    JsonWriter inner;
    describe(inner, value);
    object_[name] = inner.take();
  }

  /// Like object(), but leaves an empty value out.
  template <class Value>
  void optional(const char* name, const std::optional<Value>& value) {
    if (value) object(name, *value);
  }

  /// One array of objects.
  template <class Value>
  void objects(const char* name, const std::vector<Value>& values) {
    auto array = nlohmann::json::array();
    for (const Value& value : values) {
      JsonWriter inner;
      describe(inner, value);
      array.push_back(inner.take());
    }
    object_[name] = std::move(array);
  }

  /// Like objects(), for a member that older records lack.
  template <class Value>
  void addedObjects(const char* name, const std::vector<Value>& values) {
    objects(name, values);
  }

  /// One array of `member` over all rows.
  template <class Row, class Value>
  void column(const char* name, const std::vector<Row>& rows, Value Row::*member) {
    auto values = nlohmann::json::array();
    for (const Row& row : rows) values.push_back(encode(row.*member));
    object_[name] = std::move(values);
  }

  /// Like column(), for a member that older records lack.
  template <class Row, class Value>
  void addedColumn(const char* name, const std::vector<Row>& rows, Value Row::*member) {
    column(name, rows, member);
  }

  void raw(const char* name, nlohmann::json value) { object_[name] = std::move(value); }
  nlohmann::json take() { return std::move(object_); }

 private:
  static nlohmann::json encode(Nanos time) { return int64_t{time.count()}; }
  static nlohmann::json encode(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(); }
  static nlohmann::json encode(const std::string& text) { return asUtf8(text); }
  static nlohmann::json encode(const std::optional<Nanos>& time) { return time ? encode(*time) : nlohmann::json(); }
  template <class Value>
  static nlohmann::json encode(const std::map<std::string, Value>& values) {
    auto object = nlohmann::json::object();
    for (const auto& [name, value] : values) object[asUtf8(name)] = encode(value);
    return object;
  }
  template <class Value>
  static nlohmann::json encode(const std::vector<Value>& values) {
    auto array = nlohmann::json::array();
    for (const Value& value : values) array.push_back(encode(value));
    return array;
  }
  template <class Value>
  static nlohmann::json encode(const Value& value) {
    return value;
  }

  nlohmann::json object_ = nlohmann::json::object();
};

/// Reads strictly: every described member must be present with its type, except members that older records lack.
/// `where` prefixes names in errors. Throws DataError. The JSON must outlive the reader.
class JsonReader {
 public:
  template <class Value>
  using Ref = Value&;

  JsonReader(const nlohmann::json& object, std::string where);

  template <class Value>
  void field(const char* name, Value& value) const {
    decode(at(name), pathOf(name), value);
  }

  template <class Value>
  void measured(const char* name, Value& value, const Value& unmeasured = {}) const {
    const nlohmann::json& stored = at(name);
    value = unmeasured;
    if (!stored.is_null()) decode(stored, pathOf(name), value);
  }

  template <class Value>
  void added(const char* name, Value& value, const Value& unmeasured = {}) const {
    value = unmeasured;
    if (object_.contains(name)) measured(name, value, unmeasured);
  }

  template <class Value>
  void object(const char* name, Value& value) const {
    JsonReader inner(at(name), pathOf(name));
    describe(inner, value);
  }

  template <class Value>
  void optional(const char* name, std::optional<Value>& value) const {
    value.reset();
    if (object_.contains(name)) object(name, value.emplace());
  }

  template <class Value>
  void objects(const char* name, std::vector<Value>& values) const {
    const nlohmann::json& stored = at(name);
    expect(stored.is_array(), stored, pathOf(name), "an array");
    values.clear();
    values.reserve(stored.size());
    for (size_t i = 0; i < stored.size(); ++i) {
      JsonReader inner(stored[i], concat(pathOf(name), "[", i, "]"));
      describe(inner, values.emplace_back());
    }
  }

  template <class Value>
  void addedObjects(const char* name, std::vector<Value>& values) const {
    values.clear();
    if (object_.contains(name)) objects(name, values);
  }

  template <class Row, class Value>
  void column(const char* name, std::vector<Row>& rows, Value Row::*member) {
    std::vector<Value> values;
    decode(at(name), pathOf(name), values);
    setColumnLength(values.size(), pathOf(name));
    rows.resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) rows[i].*member = values[i];
  }

  template <class Row, class Value>
  void addedColumn(const char* name, std::vector<Row>& rows, Value Row::*member) {
    if (object_.contains(name)) column(name, rows, member);
  }

  const nlohmann::json& at(const char* name) const;
  std::string pathOf(const std::string& name) const { return where_.empty() ? name : where_ + "." + name; }

 private:
  static void decode(const nlohmann::json& stored, const std::string& path, std::string& value);
  static void decode(const nlohmann::json& stored, const std::string& path, bool& value);
  static void decode(const nlohmann::json& stored, const std::string& path, int& value);
  static void decode(const nlohmann::json& stored, const std::string& path, int64_t& value);
  static void decode(const nlohmann::json& stored, const std::string& path, double& value);
  static void decode(const nlohmann::json& stored, const std::string& path, Nanos& value);
  static void decode(const nlohmann::json& stored, const std::string& path, std::optional<Nanos>& value);
  template <class Value>
  static void decode(const nlohmann::json& stored, const std::string& path, std::map<std::string, Value>& value) {
    expectObject(stored, path);
    value.clear();
    for (const auto& [name, inner] : stored.items()) decode(inner, concat(path, ".", name), value[name]);
  }
  static void expectObject(const nlohmann::json& stored, const std::string& path);

  template <class Value>
  static void decode(const nlohmann::json& stored, const std::string& path, std::vector<Value>& values) {
    expect(stored.is_array(), stored, path, "an array");
    values.clear();
    values.reserve(stored.size());
    for (size_t i = 0; i < stored.size(); ++i) {
      decode(stored[i], concat(path, "[", i, "]"), values.emplace_back());
    }
  }

  static void expect(bool holds, const nlohmann::json& stored, const std::string& path, const char* rule);
  void setColumnLength(size_t length, const std::string& path);

  const nlohmann::json& object_;
  std::string where_;
  std::optional<size_t> columnLength_;
};

}  // namespace tandem
