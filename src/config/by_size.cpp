#include "config/by_size.h"

#include "base/text.h"

namespace tandem {
namespace {

constexpr int64_t mostBytes = int64_t{1} << 50;

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
    const auto bytes = bytesIn(parts[i], "kmg", mostBytes);
    if (!bytes || (!all.upTo.empty() && *bytes <= all.upTo.back())) return std::nullopt;
    all.upTo.push_back(*bytes);
  }
  return all;
}

}  // namespace tandem
