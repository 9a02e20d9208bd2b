#pragma once

#include <span>
#include <string>

namespace tandem {

/// Where the regular expression `pattern` (ECMAScript) matches in a name, `replacement` stands for the match: $1 is a
/// group, $1+ and $1- the number in it plus and minus one.
struct NameRule {
  const char* pattern;
  const char* replacement;
};

/// `name` after all rules, in order, each at its first match.
std::string renamed(std::string name, std::span<const NameRule> rules);

}  // namespace tandem
