#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace tandem {

/// Values as they lie in memory, one behind the other, for another process of the same program.
class PackedBytes {
 public:
  template <class Value>
  void add(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class Value>
  void add(const std::vector<Value>& values) {
    static_assert(std::is_trivially_copyable_v<Value>);
    add(values.size());
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value));
  }
  void add(const std::string& text) {
    add(text.size());
    bytes_ += text;
  }

  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads such values in the same order. Throws DataError if there are fewer bytes than they need. `bytes` must outlive
/// it.
class UnpackedBytes {
 public:
  explicit UnpackedBytes(std::string_view bytes) : bytes_(bytes) {}

  template <class Value>
  void read(Value& value) {
    std::memcpy(&value, take(1, sizeof value), sizeof value);
  }
  template <class Value>
  void read(std::vector<Value>& values) {
    const auto count = next<size_t>();
    const char* const from = take(count, sizeof(Value));
    values.resize(count);
    if (count > 0) std::memcpy(values.data(), from, count * sizeof(Value));
  }
  void read(std::string& text) {
    const auto count = next<size_t>();
    text.assign(take(count, 1), count);
  }

  template <class Value>
  Value next() {
    Value value{};
    read(value);
    return value;
  }

 private:
  const char* take(size_t count, size_t each) {
    if (count > bytes_.size() / each) throw DataError("packed bytes end too early");
    const char* const from = bytes_.data();
    bytes_.remove_prefix(count * each);
    return from;
  }

  std::string_view bytes_;
};

}  // namespace tandem
