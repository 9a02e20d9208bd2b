#include "config/by_size.h"

#include "base/number.h"
#include "base/text.h"

namespace tandem {
namespace {

constexpr int64_t mostBytes = int64_t{1} << 50;

/// "32k" is 32768. Empty for other texts, and beyond the most.
std::optional<int64_t> bytesIn(std::string_view text) {
  constexpr std::string_view suffixes = "kmg";
  const size_t suffix = text.empty() ? text.npos : suffixes.find(lowered(text.substr(text.size() - 1)));
  const bool plain = suffix == std::string_view::npos;
  const int64_t unit = plain ? 1 : int64_t{1} << (10 * (suffix + 1));
  const auto number = numberWithin(text.substr(0, text.size() - (plain ? 0 : 1)), 1, mostBytes / unit);
  return number ? std::optional(*number * unit) : std::nullopt;
}

}  // namespace

std::optional<BySize> parseBySize(std::string_view text) {
  const std::vector<std::string> parts = split(text, ":");
  if (parts.size() % 2 == 0) return std::nullopt;
  BySize all;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i % 2 == 0) {
      all.names.push_back(parts[i]);
      continue;
    }
    const auto bytes = bytesIn(parts[i]);
    if (!bytes || (!all.upTo.empty() && *bytes <= all.upTo.back())) return std::nullopt;
    all.upTo.push_back(*bytes);
  }
  return all;
}

}  // namespace tandem
