#include "models/names/name_rules.h"

#include <cctype>
#include <regex>
#include <string_view>

namespace tandem {
namespace {

std::string filledIn(std::string_view replacement, const std::smatch& match) {
  std::string text;
  for (size_t i = 0; i < replacement.size(); ++i) {
    const bool isGroup = replacement[i] == '$' && i + 1 < replacement.size() && std::isdigit(replacement[i + 1]) != 0;
    if (!isGroup) {
      text += replacement[i];
      continue;
    }
    const std::string group = match.str(static_cast<size_t>(replacement[++i] - '0'));
    const char sign = i + 1 < replacement.size() ? replacement[i + 1] : ' ';
    if (sign != '+' && sign != '-') {
      text += group;
      continue;
    }
    text += std::to_string(std::stoi(group) + (sign == '+' ? 1 : -1));
    ++i;
  }
  return text;
}

}  // namespace

std::string renamed(std::string name, std::span<const NameRule> rules) {
  for (const NameRule& rule : rules) {
    std::smatch match;
    if (!std::regex_search(name, match, std::regex(rule.pattern))) continue;
    name = match.prefix().str() + filledIn(rule.replacement, match) + match.suffix().str();
  }
  return name;
}

}  // namespace tandem
