#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tandem {

/// The number that the whole text is, without blanks. Empty if it is none, or beyond the type's range.
template <class Number>
std::optional<Number> numberIn(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The same of a whole number, if it lies in the range.
inline std::optional<int64_t> numberWithin(std::string_view text, int64_t low, int64_t high) {
  const auto value = numberIn<int64_t>(text);
  return value && *value >= low && *value <= high ? value : std::nullopt;
}

/// The shortest text that numberIn() reads back as the same number.
inline std::string shortest(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace tandem
