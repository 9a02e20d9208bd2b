#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "base/text.h"

namespace tandem {

/// Why bytes were refused. The text names the value found and the rule. The caller adds the file.
struct ParseError {
  uint64_t offset = 0;  ///< offset of the first byte that breaks the rule
  std::string text;
};

template <class... Parts>
ParseError parseError(uint64_t offset, const Parts&... parts) {
  return {offset, concat(parts...)};
}

/// The result of a parser of untrusted bytes: a value, or the reason for refusal. Parsers never throw for bad bytes,
/// and check every size before they allocate by it.
template <class T>
class Result {
 public:
  Result(T value) : content_(std::move(value)) {}           // NOLINT(google-explicit-constructor)
  Result(ParseError error) : content_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const noexcept { return std::holds_alternative<T>(content_); }
  explicit operator bool() const noexcept { return ok(); }

  /// REQUIRES: ok().
  T& value() { return std::get<T>(content_); }
  const T& value() const { return std::get<T>(content_); }
  /// REQUIRES: !ok().
  const ParseError& error() const { return std::get<ParseError>(content_); }

 private:
  std::variant<T, ParseError> content_;
};

}  // namespace tandem
