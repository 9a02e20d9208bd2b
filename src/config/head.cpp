#include "config/head.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace tandem {

std::optional<HeadText> parseHead(std::string_view text) {
  HeadText head;
  const char* const end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, head.outputs);
  if (number.ptr != text.data()) {
    if (number.ec != std::errc() || head.outputs < 1 || number.ptr == end || *number.ptr != 'x') return std::nullopt;
    text.remove_prefix(static_cast<size_t>(number.ptr + 1 - text.data()));
  }
  const auto isOfAName = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  if (text.empty() || !std::ranges::all_of(text, isOfAName)) return std::nullopt;
  head.kind = text;
  return head;
}

HeadText headOf(const Config& config) {
  auto head = parseHead(config.network.head);
  check(head.has_value(), "--head was not checked");
  return std::move(*head);
}

}  // namespace tandem
