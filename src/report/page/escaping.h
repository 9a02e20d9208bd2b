#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tandem {

/// Foreign text as a page can show it: well-formed UTF-8 in which control characters and those that turn the direction
/// of writing stand as their code, [U+202E], and bytes that are no UTF-8 as U+FFFD. Above 1000 characters it is cut,
/// and says how long it was.
std::string visible(std::string_view text);

/// visible(), escaped for HTML: as content of an element and as a value in quotes.
std::string htmlText(std::string_view text);

/// JSON as it can stand in a script element: the same value without <, > and &.
std::string scriptJson(std::string_view json);

/// "sha256-...": how a Content-Security-Policy names an inline script or style.
std::string integrityOf(std::string_view text);

}  // namespace tandem
