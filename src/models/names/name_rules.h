#pragma once

#include <span>
#include <string>

namespace tandem {

/// A rule that rewrites names. `replacement` replaces a match of the regular expression `pattern` (ECMAScript). In it,
/// $1 is a group; $1+ and $1- are the number in that group plus and minus one.
struct NameRule {
  const char* pattern;
  const char* replacement;
};

/// Applies all rules to `name` in order, each at its first match.
std::string renamed(std::string name, std::span<const NameRule> rules);

}  // namespace tandem
