#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

/// Names by size: each but the last is for what has at most so many bytes, the last for all that is larger.
struct BySize {
  std::vector<std::string> names;
  std::vector<int64_t> upTo;  ///< bytes, growing, one less than names

  bool operator==(const BySize&) const = default;
};

/// "ring"; "tree:32k:ring", where k, m and g are powers of 1024. Empty if the text is no such list.
std::optional<BySize> parseBySize(std::string_view text);

}  // namespace tandem
