#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

/// Joins the printed forms of its arguments. Headers do not use fmt, because libtorch carries another version of it.
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// "a, b, c".
std::string join(std::span<const std::string> parts, std::string_view separator = ", ");

/// Splits at any character of `separators`. An empty text gives one empty part.
std::vector<std::string> split(std::string_view text, std::string_view separators);

/// ASCII letters in lower case.
std::string lowered(std::string_view text);

/// Returns the candidate nearest to `given` by edit distance. Empty if none is near enough to be a typing error.
std::string nearest(std::string_view given, std::span<const std::string> candidates);

/// The text up to its first line break. libtorch's messages carry a stack trace below it.
std::string firstLine(std::string_view text);

/// Fixed-point with `decimals` digits after the point.
std::string fixed(double value, int decimals);

/// "1.1e-02": two digits.
std::string scientific(double value);

/// "1.5 GiB", "64 KiB", "12 B".
std::string bytesText(double bytes);

/// A whole number of bytes from 1 to `most`: "4", or with one of `suffixes` behind it, in any case, which are the
/// powers of 1024 from the first on. With "kmg" "32k" is 32768. Empty for other texts.
std::optional<int64_t> bytesIn(std::string_view text, std::string_view suffixes, int64_t most);

/// "1.23 s", "45.6 ms", "7.8 us".
std::string secondsText(double seconds);

/// The bytes of `text`, which must outlive them.
inline std::span<const uint8_t> asBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace tandem
